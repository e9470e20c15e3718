import test from 'ava';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {startService, type TestService} from '../helpers/service.ts';
import {iPhoneApp, network, open, userAgents, visit} from '../match/_phones.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {createSink, runCli} from './_run-cli.ts';
import {finish, start} from './_spawn-cli.ts';

let service: TestService;

test.serial.before(async () => {
	service = await startService();
});
test.after.always(async () => {
	await service?.stop();
});

const environment = ({url, adminToken}: TestService) => ({OPLINK_URL: url, OPLINK_ADMIN_TOKEN: adminToken});
const cli = (argv: string[]) => runCli(argv, {env: environment(service)});

/** On a terminal of 80 columns. */
const onTerminal = async (argv: string[]) => {
	const screen = createSink();
	const stdout = Object.assign(screen.stream, {isTTY: true, columns: 80});
	const {exitCode} = await runCli(argv, {env: {...environment(service), NO_COLOR: '1'}, io: {stdout}});
	return {exitCode, stdout: screen.text()};
};

const attemptsOf = async (service: TestService, {id}: TestOrganization) =>
	(await admin(service).get(`/admin/organizations/${id}/matches`)).body.data;

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

/** The value of a name in the first column. */
const shown = (text: string, name: string): string | undefined => new RegExp(`^${name} {2,}(.*)$`, 'm').exec(text)?.[1];

test('match explain shows the answer, the candidates with probabilities, and reasons of exclusion, within the terminal’s width', async (t) => {
	const acme = await organization(service);
	const place = network();
	const sale = await link(acme, {shortCode: `summer-sale-${'x'.repeat(50)}`});
	const other = await link(acme, {shortCode: 'other'});
	await visit(service, other, place(1), {language: 'fr-FR', timezone: 'Europe/Paris'});
	await visit(service, other, place(1), {userAgent: userAgents.android});
	await visit(service, sale, place(1));
	await open(service, place(1), {...iPhoneApp, deviceId: 'device-0001'}, acme);
	const [attempt] = await attemptsOf(service, acme);
	const {exitCode, stdout} = await onTerminal(['match', 'explain', attempt.id]);
	t.is(exitCode, 0);
	t.is(shown(stdout, 'device'), 'device-0001');
	t.is(shown(stdout, 'signals'), 'iOS 17.5.1, iPhone15,2, en-US, America/New_York');
	t.is(shown(stdout, 'came over'), 'IPv4, with the CLIENT key');
	t.is(shown(stdout, 'answer'), 'FINGERPRINT_EXACT, high, probability over 99 %');
	t.is(shown(stdout, 'link'), sale.url);
	t.is(shown(stdout, 'runner-up'), `${other.url}, 0 %`);
	t.regex(stdout, /^LINK +TAPPED +% +ADDR +PLAT +MODEL +OS +ZONE +LANG +ALIKE +RULED OUT$/m);
	t.regex(stdout, /^summer-sale-\S*… +0s +100 +40 +5 +0 +15 +15 +10 +0\/0 +-$/m);
	t.regex(stdout, /^other +0s +0 +40 +5 +0 +15 +-25 +-10 +0\/0 +-$/m);
	t.regex(stdout, /^other +0s +0 +40 +0 +0 +0 +15 +10 +0\/0 +platform$/m);
	t.regex(
		stdout.replaceAll('\n', ' '),
		/This tap led here with a probability of 99.9 %, those of other links with 0.0 %, no tap at all with 0.1 %: no phones of this app have been counted yet; 3 taps were made here in 24 hours\./,
	);
	t.regex(stdout, /^platform: the tap was made on another platform$/m);
	const longest = sale.url.length + 'install referrer  '.length;
	t.true(widest(stdout.replace(sale.url, '')) <= 80, stdout);
	t.true(widest(stdout) <= longest);
	const {stdout: json} = await cli(['match', 'explain', attempt.id, '--org', acme.id, '--json']);
	t.deepEqual(JSON.parse(json), attempt);
});

test.serial('match explain says that no token came, where most matches of the app are by token', async (t) => {
	const acme = await organization(service);
	const place = network();
	const sale = await link(acme);
	for (const device of [1, 2, 3, 4, 5]) {
		const {token} = await visit(service, sale, place(device));
		await open(service, place(device), {...iPhoneApp, clipboardToken: token, deviceId: `device-100${device}`}, acme);
	}

	await service.services.background.settle();
	service.clock.advance(60);
	await visit(service, sale, place(9));
	await open(service, place(9), {...iPhoneApp, deviceId: 'device-1009'}, acme);
	const [guessed, byToken] = await attemptsOf(service, acme);
	const words = /No token came with the open\. Of the last matches on its platform about 67 % had none/;
	const explain = async (attempt: {id: string}) =>
		(await cli(['match', 'explain', attempt.id, '--org', acme.orgKey])).stdout.replaceAll('\n', ' ');
	t.regex(await explain(guessed), words);
	t.notRegex(await explain(byToken), words);
});

test('match explain says that taps of one link decided together, as after many test taps of an office', async (t) => {
	const acme = await organization(service);
	const place = network();
	const sale = await link(acme);
	for (let tap = 0; tap < 3; tap += 1) {
		await visit(service, sale, place(1));
	}

	await open(service, place(1), {...iPhoneApp, deviceId: 'device-0006'}, acme);
	const [attempt] = await attemptsOf(service, acme);
	const [best] = attempt.candidates;
	t.true(best.score < attempt.score);
	const {stdout} = await onTerminal(['match', 'explain', attempt.id, '--org', acme.orgKey]);
	const [, said = ''] =
		/The taps of this link together led here with a probability of ([\d.]+) %, no tap/.exec(
			stdout.replaceAll('\n', ' '),
		) ?? [];
	t.is(Math.round(Number(said)), attempt.score);
});

test('match explain shows the meaning and the next step of a miss', async (t) => {
	const acme = await organization(service);
	const place = network();
	const sale = await link(acme);
	await visit(service, sale, place(1));
	await open(service, place(1), {...iPhoneApp, osVersion: '16.1'}, acme);
	const [attempt] = await attemptsOf(service, acme);
	const {stdout} = await cli(['match', 'explain', attempt.id, '--org', acme.orgKey]);
	t.is(shown(stdout, 'answer'), 'no match: ruled_out');
	t.is(shown(stdout, 'nearest')?.startsWith(`${sale.url}, 0 %`), true);
	t.regex(stdout, /^The likeliest tap cannot belong to this first open/m);
	t.regex(stdout, /^Next: Open the app on the phone that tapped/m);
	t.regex(stdout, /^older OS: the app's OS is older/m);
});

test('match explain works after a link was deleted', async (t) => {
	const acme = await organization(service);
	const place = network();
	const sale = await link(acme);
	await visit(service, sale, place(1));
	await open(service, place(1), iPhoneApp, acme);
	await acme.server.delete(`/links/${sale.id}`);
	const [attempt] = await attemptsOf(service, acme);
	const {exitCode, stdout} = await cli(['match', 'explain', attempt.id, '--org', acme.orgKey]);
	t.is(exitCode, 0);
	t.is(shown(stdout, 'link'), `${sale.id} (deleted)`);
	// The id is all that is left of it, so it is whole on a terminal, too.
	const {stdout: onScreen} = await onTerminal(['match', 'explain', attempt.id, '--org', acme.orgKey]);
	for (const text of [stdout, onScreen]) {
		t.regex(text, new RegExp(`^${sale.id} +0s +`, 'm'));
	}
});

test('match list shows the newest attempts first, and an unknown one is not found', async (t) => {
	const acme = await organization(service);
	const place = network();
	const {url} = await link(acme);
	const {token} = await visit(service, {url}, place(1));
	await open(service, place(1), {clipboardToken: token, deviceId: 'device-0002'}, acme);
	await open(service, place(9), {deviceId: 'device-0003'}, acme);
	const {stdout} = await cli(['match', 'list', '--org', acme.orgKey]);
	t.regex(stdout, /^AT \(UTC\) +ID +MATCHED$/m);
	const now = service.clock.now().toISOString().slice(0, 19).replace('T', ' ');
	t.regex(stdout, new RegExp(`^${now} {2}\\S{36} {2}yes, clipboard token$`, 'm'));
	t.regex(stdout, new RegExp(`^${now} {2}\\S{36} {2}no, no tap found$`, 'm'));
	t.true(widest(stdout) <= 80);
	const {stdout: json} = await cli(['match', 'list', '--org', acme.orgKey, '--limit', '1', '--json']);
	t.like(JSON.parse(json), {total: 2, limit: 1});
	t.is((await cli(['match', 'explain', acme.id, '--org', acme.orgKey])).exitCode, 4);
	t.is((await cli(['match', 'explain', acme.id])).exitCode, 4);
});

test('match simulate plays an iPhone whose app reads the clipboard', async (t) => {
	const acme = await organization(service);
	const {url} = await link(acme);
	const {exitCode, stdout, stderr} = await cli(['match', 'simulate', '--org', acme.orgKey]);
	t.is(exitCode, 0);
	t.is(shown(stdout, 'tapped'), url);
	t.is(shown(stdout, 'phone'), 'iPhone15,2 with iOS 17.5.1, at 198.51.100.23');
	t.is(shown(stdout, 'page'), 'leaves a token on the clipboard; posts its signals');
	t.is(shown(stdout, 'opened'), '1m later, at 198.51.100.23');
	t.is(shown(stdout, 'app sends'), 'clipboard token');
	t.is(shown(stdout, 'answer'), 'CLIPBOARD, exact');
	t.true(widest(stdout) <= 80);
	t.regex(stderr, /Nothing was stored/);
	t.deepEqual(await attemptsOf(service, acme), []);
});

test('match simulate by a short URL finds the organization, and its options make the phone, the way and the wait', async (t) => {
	const acme = await organization(service);
	const {url, id} = await link(acme);
	await link(acme);
	const {stdout} = await cli([
		'match',
		'simulate',
		url,
		...['--platform', 'android', '--os-version', '15', '--device-model', 'SM-S911B', '--language', 'de-CH'],
		...['--timezone', 'Europe/Zurich', '--network', 'nearby', '--delay', '5m', '--no-referrer', '--no-key'],
		'--json',
	]);
	const {link: tapped, tap, open: opened, answer} = JSON.parse(stdout);
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
	const {stdout} = await cli(['match', 'simulate', `${url}${query}#top`]);
	t.is(shown(stdout, 'tapped'), `${url}?ref=42&own=2&note=a+b`);
	t.is(shown(stdout, 'query'), 'ref=42, note=a b, own=2');
	const {stdout: json} = await cli(['match', 'simulate', `${shortCode}${query}`, '--org', acme.orgKey, '--json']);
	t.deepEqual(JSON.parse(json).answer.params, {own: '1', ref: '42', note: 'a b'});
	const address = network()(1);
	const {token} = await visit(service, {url}, address, {query});
	await open(service, address, {clipboardToken: token, deviceId: 'device-0004'}, acme);
	const [{id}] = await attemptsOf(service, acme);
	const explained = await onTerminal(['match', 'explain', id, '--org', acme.orgKey]);
	t.is(shown(explained.stdout, 'query'), 'ref=42, note=a b, own=2');
});

test('match simulate says why a page leaves no token, and a miss is an answer like another', async (t) => {
	const acme = await organization(service);
	const {shortCode} = await link(acme, {deferredDeepLinking: false});
	const {exitCode, stdout} = await cli(['match', 'simulate', shortCode, '--org', acme.orgKey]);
	t.is(exitCode, 0);
	t.is(shown(stdout, 'page'), 'leaves no token: the link is not deferred');
	t.is(shown(stdout, 'app sends'), 'no token');
	t.is(shown(stdout, 'answer'), 'no match: no_click');
	t.regex(stdout, /^Next: Have the app send the clipboard token/m);
});

test('match simulate shows the probability and explains it', async (t) => {
	const acme = await organization(service);
	const {shortCode} = await link(acme);
	const command = ['match', 'simulate', shortCode, '--org', acme.orgKey, '--no-clipboard'];
	const late = await cli([...command, '--delay', '1h']);
	t.is(shown(late.stdout, 'answer'), 'FINGERPRINT_EXACT, medium, probability 94 %');
	const words =
		/no tap at all with 6 %: no phones of this app have been counted yet; 1 tap was made here in 24 hours\./;
	t.regex(late.stdout.replaceAll('\n', ' '), words);
});

test('match simulate sends only the given options', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'GET /admin/links': () => ({body: pageOf([{id: 'spring-id', organizationId: 'its-own'}])}),
	});
	await runCli(['match', 'simulate', 'spring', '--with-key', '--no-beacon', '--no-clipboard'], {env});
	t.is(requests[0]?.url, '/admin/links?shortCode=spring');
	t.is(requests[1]?.url, '/admin/organizations/its-own/matches/simulate');
	const given = {linkId: 'spring-id', platform: 'iOS', beacon: false, clipboard: false, apiKey: true};
	t.deepEqual(requests[1]?.body, given);
	const id = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';
	await runCli(['match', 'simulate', id, '--platform', 'android', '--clipboard', '--referrer', '--delay', '90s'], {
		env,
	});
	t.deepEqual(requests[3]?.body, {
		linkId: 'spring-id',
		platform: 'Android',
		delaySeconds: 90,
		clipboard: true,
		referrer: true,
		beacon: true,
		apiKey: true,
	});
	await runCli(['match', 'simulate', 'localhost:3000/Ab12/spring?x=1'], {env});
	t.is(requests[4]?.url, '/admin/links?url=https%3A%2F%2Flocalhost%3A3000%2FAb12%2Fspring');
	t.like(requests[5]?.body, {query: {x: '1'}});
});

for (const [what, argv] of [
	['a wait without a unit', ['--delay', '10']],
	['a referrer on iOS', ['--referrer']],
	['an unknown network', ['--network', 'mesh']],
	['both kinds of key', ['--with-key', '--no-key']],
	['a text that names no link', ['https://acme.example/']],
] as const) {
	test(`match simulate with ${what} is a usage error`, async (t) => {
		const {env, requests} = await startRecordingServer(t, {});
		const {exitCode, stderr} = await runCli(['match', 'simulate', ...argv], {env});
		t.is(exitCode, 2);
		t.regex(stderr, /^Error: .*\n(?:.*\n)*Next: /);
		t.deepEqual(requests, []);
	});
}

test('match simulate ends with 4 without a deferred link, and with 1 after a refusal', async (t) => {
	const acme = await organization(service);
	const none = await cli(['match', 'simulate', '--org', acme.orgKey]);
	t.is(none.exitCode, 4);
	t.regex(none.stderr, /^Error: The organization has no deferred link$/m);
	await link(acme);
	const wrong = await cli(['match', 'simulate', '--org', acme.orgKey, '--timezone', 'Mars/Olympus']);
	t.is(wrong.exitCode, 1);
	t.regex(wrong.stderr, /^ {2}timezone must be an IANA time zone$/m);
});

test('the program itself simulates and explains', async (t) => {
	const acme = await organization(service);
	const place = network();
	const sale = await link(acme);
	const {token} = await visit(service, sale, place(1));
	await open(service, place(1), {clipboardToken: token}, acme);
	const [{id}] = await attemptsOf(service, acme);
	const [simulated, explained] = await Promise.all(
		[
			['match', 'simulate', sale.url, '--no-clipboard'],
			['match', 'explain', id, '--org', acme.orgKey],
		].map((argv) => finish(start(t, argv, environment(service)))),
	);
	t.is(simulated?.exitCode, 0);
	t.is(shown(simulated?.stdout ?? '', 'answer'), 'FINGERPRINT_EXACT, high, probability over 99 %');
	t.is(explained?.exitCode, 0);
	t.is(shown(explained?.stdout ?? '', 'answer'), 'CLIPBOARD, exact');
});
