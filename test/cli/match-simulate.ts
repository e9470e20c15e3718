import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {network, open, visit} from '../visits/matches/_phones.ts';
import {attemptsOf, shows, widest} from './_match.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';
import {environment, serviceCli} from './_service-cli.ts';
import {finish, start} from './_spawn-cli.ts';

const {cli, json, onScreen, service} = serviceCli(test);

test('match simulate plays an iPhone whose app reads the clipboard', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const {stdout, stderr} = ends(t, await cli(`match simulate --org ${acme.orgKey}`), 0);
	shows(t, stdout, {
		clicked: url,
		phone: 'iPhone15,2 with iOS 17.5.1, at 198.51.100.23',
		page: 'leaves a token on the clipboard; posts its signals',
		opened: '1m later, at 198.51.100.23',
		'app sends': 'clipboard token',
		answer: 'clipboard (CLIPBOARD), exact',
		path: '/sale',
	});
	t.true(widest(stdout) <= 80);
	t.regex(stderr, /Nothing was stored/);
	t.deepEqual(await attemptsOf(acme), []);
});

test('match simulate by a short URL finds the organization, and its options make the phone, the way and the wait', async (t) => {
	const acme = await organization(service);
	const {url, id} = await link(acme);
	await link(acme);
	const options = `--platform android --os-version 15 --device-model SM-S911B --language de-CH
		--timezone Europe/Zurich --network nearby --delay 5m --no-referrer --no-key`;
	const {link: tapped, tap, open: opened, answer} = await json(`match simulate ${url} ${options}`);
	t.is(tapped.id, id);
	t.is(tap.headers['accept-language'], 'de-CH,de;q=0.9');
	t.like(tap.signals, {timezone: 'Europe/Zurich', languages: ['de-CH'], model: 'SM-S911B', platformVersion: '15.0.0'});
	t.like(opened, {apiKey: false, body: {platform: 'Android', osVersion: '15', deviceModel: 'SM-S911B'}});
	t.is(Date.parse(opened.at) - Date.parse(tap.at), 5 * 60 * 1000);
	t.false('installReferrer' in opened.body);
	t.like(answer, {matchMethod: 'FINGERPRINT_SCORED', matchConfidence: 'low', matchScore: 95});
});

test('match simulate taps a URL with its query, and match explain shows the query of a tap', async (t) => {
	const acme = await organization(service);
	const {url, shortCode} = await link(acme, {params: {own: '1'}});
	const query = '?ref=42&ref=43&own=2&note=a%20b';
	const {stdout} = await cli(`match simulate ${url}${query}#top`);
	shows(t, stdout, {
		clicked: `${url}?ref=42&own=2&note=a+b`,
		query: 'ref=42, note=a b, own=2',
		path: '/sale',
		params: 'own=1, ref=42, note=a b',
	});
	const {answer} = await json(`match simulate ${shortCode}${query} --org ${acme.orgKey}`);
	t.deepEqual(answer.params, {own: '1', ref: '42', note: 'a b'});
	const address = network()(1);
	const {token} = await visit(service, {url}, address, {query});
	await open(service, address, {clipboardToken: token, deviceId: 'device-0004'}, acme);
	const [{id}] = await attemptsOf(acme);
	const explained = await onScreen(`match explain ${id} --org ${acme.orgKey}`);
	shows(t, explained.stdout, {query: 'ref=42, note=a b, own=2', path: '/sale', params: 'own=1, ref=42, note=a b'});
});

test('match simulate says why a page leaves no token, and a miss is an answer like another', async (t) => {
	const acme = await organization(service);
	const {shortCode} = await link(acme, {deferredDeepLinking: false});
	const {stdout} = ends(t, await cli(`match simulate ${shortCode} --org ${acme.orgKey}`), 0);
	shows(t, stdout, {
		page: 'leaves no token: the link is not deferred',
		'app sends': 'no token',
		answer: 'no match: no click (no_click)',
	});
	t.regex(stdout, /^Next: Have the app send the clipboard token/m);
});

test('match simulate shows the probability and explains it', async (t) => {
	const acme = await organization(service);
	const {shortCode} = await link(acme);
	const {stdout} = await cli(`match simulate ${shortCode} --org ${acme.orgKey} --no-clipboard --delay 1h`);
	shows(t, stdout, {answer: 'fingerprint (FINGERPRINT_EXACT), medium, probability 94 %'});
	const words = 'No phones of this app have been counted yet; 1 click was made here in 24 hours.';
	t.true(stdout.replaceAll('\n', ' ').includes(`that no click did: 6 %. ${words}`), stdout);
});

test('match simulate sends only the given options', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {
		'GET /admin/links': {body: pageOf([{id: 'spring-id', organizationId: 'its-own'}])},
	});
	await cli('match simulate spring --with-key --no-beacon --no-clipboard');
	t.is(requests[0]?.url, '/admin/links?shortCode=spring');
	t.is(requests[1]?.url, '/admin/organizations/its-own/matches/simulate');
	const given = {linkId: 'spring-id', platform: 'iOS', beacon: false, clipboard: false, apiKey: true};
	t.deepEqual(requests[1]?.body, given);
	const id = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';
	await cli(`match simulate ${id} --platform android --clipboard --referrer --delay 90s`);
	const all = {clipboard: true, referrer: true, beacon: true, apiKey: true};
	t.deepEqual(requests[3]?.body, {linkId: 'spring-id', platform: 'Android', delaySeconds: 90, ...all});
	await cli('match simulate localhost:3000/Ab12/spring?x=1');
	t.is(requests[4]?.url, '/admin/links?url=https%3A%2F%2Flocalhost%3A3000%2FAb12%2Fspring');
	t.like(requests[5]?.body, {query: {x: '1'}});
});

test('match simulate with options that make no sense is a usage error', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	for (const options of [
		'--delay 10',
		'--referrer',
		'--network mesh',
		'--with-key --no-key',
		'https://acme.example/',
	]) {
		ends(t, await cli(`match simulate ${options}`), 2, {stderr: /^Error: .*\n(?:.*\n)*Next: /});
	}

	t.deepEqual(requests, []);
});

test('match simulate ends with 4 without a deferred link, and with 1 after a refusal', async (t) => {
	const acme = await organization(service);
	ends(t, await cli(`match simulate --org ${acme.orgKey}`), 4, {
		stderr: /^Error: The organization has no deferred link$/m,
	});
	await link(acme);
	ends(t, await cli(`match simulate --org ${acme.orgKey} --timezone Mars/Olympus`), 1, {
		stderr: /^ {2}--timezone must be an IANA time zone$/m,
	});
});

test('the program itself simulates', async (t) => {
	const {url} = await link(await organization(service));
	const simulating = start(t, ['match', 'simulate', url, '--no-clipboard'], environment(service));
	const {stdout} = ends(t, await finish(simulating), 0);
	shows(t, stdout, {answer: 'fingerprint (FINGERPRINT_EXACT), high, probability over 99 %'});
});
