import test from 'ava';
import fc from 'fast-check';
import QRCode from 'qrcode';
import {readQuery} from '../../../src/platform/query.ts';
import {encodeEntry} from '../../../src/visits/clicks/journal/entry.ts';
import {encodeSection, entriesOf, sectionOf} from '../../../src/visits/clicks/journal/section.ts';
import {forgetExpiredMatches} from '../../../src/visits/matches/match-clicks.ts';
import type {ResolvedRow} from '../../../src/visits/visit/resolved-row.ts';
import {visitQueryOf, withQuery} from '../../../src/visits/visit/tap-query.ts';
import {exampleAppConfig, link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {serviceOf, storedRows} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {at as clickedAt, clickOn, frameOf, leftBehind, matchOf} from '../clicks/_left-behind.ts';
import {hrefsOf} from '../resolution/_redirect-page.ts';
import {
	byClipboard,
	device,
	iPhoneApp,
	match,
	network,
	nothing,
	open,
	pathOf,
	sendSignals,
	userAgents,
	visit,
} from './_phones.ts';

const service = serviceOf(test);

/** A visit with a query, and its page's text. */
const tap = async (
	url: string,
	query: string,
	{address = network()(1), agent = userAgents.iPhone, headers = {}} = {},
) => {
	const {answer, token, cookie} = await visit(service, {url}, address, {userAgent: agent, headers, query});
	return {text: answer.text.replaceAll('&amp;', '&'), token, cookie: cookie ?? '', address};
};

const attemptsOf = async ({operator}: TestOrganization) => (await operator.get('/matches')).body.data;

const rowsOf = (linkId: string) => storedRows(service, 'match_clicks', {link_id: linkId});

test('an invitation built offline reaches the installed app, the page’s targets and the first open after the install', async (t) => {
	const {acme, ...invite} = await linked(service, {path: '/invite', params: {campaign: 'spring'}});
	const query = '?ref=42&ref=43&campaign=mine&note=a%20b%2Bc&deviceId=device-0001';
	const params = {campaign: 'spring', ref: '42', note: 'a b+c'};
	const {body: data} = await anonymous(service).get(`${pathOf(invite.url)}/data${query}`);
	t.deepEqual(data.params, params);
	const {text, token, address} = await tap(invite.url, query);
	t.true(text.includes('href="acmeshop://invite?campaign=spring&ref=42&note=a%20b%2Bc"'));
	const asked = {...iPhoneApp, clipboardToken: token, deviceId: 'device-0001'};
	for (const _ of ['the first time', 'again']) {
		t.deepEqual(await match(service, address, asked), {...byClipboard, linkId: invite.id, path: '/invite', params});
	}

	// A match by token gets its candidates after the answer.
	await service.services.background.settle();
	const [attempt] = await attemptsOf(acme);
	t.deepEqual(attempt.query, {ref: '42', note: 'a b+c', campaign: 'mine'});
	const {body: explained} = await acme.operator.get(`/matches/${attempt.id}`);
	t.deepEqual(explained, attempt);
});

test('a guess carries the query as a token does, below the template’s parameters, and those of the link', async (t) => {
	const acme = await organization(service);
	const template = {name: 'Invitation', path: '/invitation', params: {plan: 'free', ref: 'none'}};
	const made = await acme.operator.post('/templates', template);
	const invite = await link(acme, {templateId: made.body.id, path: undefined, params: {ref: 'house'}});
	const {address} = await tap(invite.url, '?ref=42&plan=gold&from=ada');
	const {body} = await open(service, address, device('device-0002'), acme);
	const params = {plan: 'free', ref: 'house', from: 'ada'};
	t.like(body, {matchMethod: 'FINGERPRINT_EXACT', path: '/invitation', params});
	t.deepEqual(await match(service, address, device('device-0002'), acme), body);
});

test('the App Link of Android carries the query, a custom scheme all parameters, and neither more', async (t) => {
	const [{packageName, sha256Fingerprints}] = exampleAppConfig.android as [(typeof exampleAppConfig.android)[0]];
	const plain = await organization(service, {appConfig: {android: [{packageName, sha256Fingerprints}]}});
	const invite = await link(plain, {params: {own: '1'}});
	const hostile = '?ref=42%23Intent;package=com.evil;end&own=2&S.browser_fallback_url=https://evil.example';
	const {text} = await tap(invite.url, hostile, {agent: userAgents.android});
	const [, target = '', extras] = /href="(intent:[^"#]*)#([^"]*)"/.exec(text) ?? [];
	const encoded = 'ref=42%23Intent%3Bpackage%3Dcom.evil%3Bend&S.browser_fallback_url=https%3A%2F%2Fevil.example';
	t.is(target, `intent://${invite.url.replace(/^https?:\/\//, '')}?own=1&${encoded}`);
	const {text: without} = await tap(invite.url, '', {agent: userAgents.android});
	const token = /opl_[A-Za-z0-9]{32}/g;
	t.is(extras?.replace(token, ''), /href="intent:[^"#]*#([^"]*)"/.exec(without)?.[1]?.replace(token, ''));
});

test('a website gets campaign values and click ids, never over a name that its URL has', async (t) => {
	const sale = await linked(service, {
		fallbackUrl: 'https://shop.example.com/sale?utm_medium=own&gclid=kept',
		utmSource: 'link',
		destinations: {ios: 'https://shop.example.com/ios?utm_id=own'},
	});
	const ids = 'gbraid=1&wbraid=1&fbclid=1&ttclid=1&msclkid=1&twclid=1&li_fat_id=1';
	const query = `?ref=42&utm_source=q&utm_medium=q&utm_id=7&url=https://evil.example&gclid=1&${ids}`;
	const {text} = await tap(sale.url, query, {agent: userAgents.windows});
	const website = `https://shop.example.com/sale?utm_medium=own&gclid=kept&utm_source=link&utm_id=7&${ids}`;
	t.true(text.includes(`href="${website}"`));
	t.true(text.includes(`content="0;url=${website}"`));
	t.notRegex(text, /evil\.example/);
	const phone = (await tap(sale.url, '?ref=42&utm_id=7&utm_source=q&gclid=1')).text;
	t.true(phone.includes('href="https://shop.example.com/ios?utm_id=own&utm_source=link&gclid=1"'));
});

/** If the page's QR code is that of `url`, as an encoder draws it that shares no code with the page's, by any mask. */
const showsCodeOf = async ({text}: {text: string}, url: string): Promise<boolean> => {
	const codes = await Promise.all(
		([0, 1, 2, 3, 4, 5, 6, 7] as const).map((maskPattern) =>
			QRCode.toString([{data: Buffer.from(url), mode: 'byte'}], {type: 'svg', errorCorrectionLevel: 'M', maskPattern}),
		),
	);
	return codes.some((code) => text.includes(code));
};

test('a link copied out of an app’s own browser, Safari’s banner and the QR code keep the query', async (t) => {
	const acme = await organization(service);
	const [deferred, plain] = [await link(acme), await link(acme, {deferredDeepLinking: false})];
	const instagram = `${userAgents.iPhone} Instagram 300.0`;
	const {text} = await tap(deferred.url, '?ref=42', {agent: instagram});
	t.true(text.includes(`data-copy-link="${deferred.url}?ref=42"`));
	t.true((await tap(plain.url, '?ref=42')).text.includes(`app-argument=${plain.url}?ref=42"`));
	const onDesk = {agent: userAgents.windows};
	t.true(await showsCodeOf(await tap(plain.url, '?ref=42', onDesk), `${plain.url}?ref=42`));
	t.true(await showsCodeOf(await tap(plain.url, `?ref=${'4'.repeat(7000)}`, onDesk), plain.url));
});

test('a crawler’s page is the same with a query, and a visit without one keeps what it kept', async (t) => {
	const {acme, ...sale} = await linked(service);
	const crawler = {agent: 'facebookexternalhit/1.1'};
	t.is((await tap(sale.url, '?ref=42', crawler)).text, (await tap(sale.url, '', crawler)).text);
	const {token, address} = await tap(sale.url, '');
	t.deepEqual((await match(service, address, {clipboardToken: token})).params, {});
	const [row] = await rowsOf(sale.id);
	t.is(row.query, null);
	const [attempt] = await attemptsOf(acme);
	t.false('query' in attempt);
	const matched = encodeEntry(clickOn(acme, sale.id), clickedAt);
	t.is(matched.match.split('\t').length, 20);
	t.notRegex(encodeSection([matched]), /quer/);
});

test('at most 50 names and 8,192 bytes are kept, in order, and what cannot be stored is left out', async (t) => {
	const {acme, ...sale} = await linked(service, {params: {own: '1'}});
	const many = Array.from({length: 60}, (_, index) => `k${index}=v`).join('&');
	await tap(sale.url, `?${many}`);
	const [{query}] = await rowsOf(sale.id);
	t.is(Object.keys(query).length, 50);
	const large = await link(acme);
	const {token, address} = await tap(large.url, `?big=${'x'.repeat(8200)}&bad=%00&half=%ED%A0%80&small=1&__proto__=2`);
	const {params} = await match(service, address, {clipboardToken: token});
	t.deepEqual(params, {half: '\ufffd\ufffd\ufffd', small: '1'});
});

test('a second tap within 10 minutes takes the place of the first with its query, and without one has none', async (t) => {
	const sale = await linked(service);
	const first = await tap(sale.url, '?ref=1&from=%22a%5C%09b%0A%22');
	const same = {address: first.address, headers: {Cookie: first.cookie}};
	await service.services.clickJournal.flushed();
	const second = await tap(sale.url, '?ref=2&note=%5C%22', same);
	t.like(await rowsOf(sale.id), {length: 1, 0: {query: {ref: '2', note: '\\"'}}});
	const third = await tap(sale.url, '', same);
	await service.services.clickJournal.flushed();
	t.deepEqual(await match(service, network()(1), {clipboardToken: second.token}), nothing);
	t.deepEqual((await match(service, first.address, {clipboardToken: third.token})).params, {});
});

test('clicks with and without a query of one batch are stored, also beside one that PostgreSQL rejects', async (t) => {
	const {acme, id} = await linked(service);
	const query = {tab: 'a\tb\\\n', '"': '{}'};
	const entries = [
		clickOn(acme, id, {match: {...matchOf(), query}}),
		clickOn(acme, id),
		clickOn(acme, id, {match: null}),
		clickOn(acme, id, {match: {...matchOf({hash: '00'.repeat(16), isReturning: true}), query}}),
	].map((click) => encodeEntry(click, clickedAt));
	t.deepEqual(entriesOf(sectionOf(entries)), entries);
	const unfit = encodeEntry(clickOn(acme, id, {match: {...matchOf(), query}}), clickedAt);
	unfit.match = unfit.match.replace('\tios\t', '\ttoaster\t');
	const left = await leftBehind(t, service, [frameOf([...entries, unfit])]);
	await left.drain();
	t.is(left.refused(), 1);
	const kept = (await rowsOf(id)).map((row) => JSON.stringify(row.query)).toSorted();
	t.deepEqual(kept, ['null', JSON.stringify(query), JSON.stringify(query)].toSorted());
});

test.serial('the query is exported with the click, and erased and cleared with its signals', async (t) => {
	const {acme, ...sale} = await linked(service);
	const matchedBy = async (deviceId: string, query: string) => {
		const {token, address} = await tap(sale.url, query);
		await sendSignals(service, sale, {token, timezone: 'America/New_York'});
		const {body} = await open(service, address, {...iPhoneApp, clipboardToken: token, deviceId}, acme);
		t.true(body.matched);
	};
	await matchedBy('device-of-ada', '?invited=by-bob');
	await matchedBy('device-of-eve', '?invited=by-mallory');
	await matchedBy('device-of-nil', '');
	const dataOf = (device: string) => `/admin/organizations/${acme.id}/devices/${device}/data`;
	const clicksOf = async (device: string) => (await admin(service).get(dataOf(device))).body.clicks;
	t.like(await clicksOf('device-of-ada'), {0: {query: {invited: 'by-bob'}}});
	t.false('query' in (await clicksOf('device-of-nil'))[0]);
	t.is((await admin(service).delete(dataOf('device-of-ada'))).status, 200);
	const queries = async () => (await rowsOf(sale.id)).map(({query}) => query?.invited ?? null).toSorted();
	t.deepEqual(await queries(), ['by-mallory', null, null]);
	const explained = async () => (await attemptsOf(acme)).map(({query}: {query?: object}) => query ?? null);
	t.deepEqual((await explained()).filter(Boolean), [{invited: 'by-mallory'}]);
	service.clock.advance(24 * 3600);
	await forgetExpiredMatches(service.services.db, service.clock.now());
	t.deepEqual(await queries(), [null, null, null]);
	t.deepEqual((await explained()).filter(Boolean), []);
});

const text = fc.oneof(
	fc.string({unit: 'binary', maxLength: 40}),
	fc.constantFrom('#Intent;scheme=evil;package=com.evil;S.x=1;end', ';end', ...'#&=?\u0000', '%23'),
	fc.constantFrom('javascript:alert(1)', '//evil.example'),
	fc.constantFrom('x'.repeat(3000), 'é'.repeat(2500), '"\\'.repeat(1500)),
);
const name = fc.oneof(text, fc.constantFrom('ref', 'own', 'deviceId', 'utm_source', 'gclid', '__proto__', 'toString'));
const pairs = fc.array(fc.tuple(name, text), {maxLength: 70});
const queryOf = (given: Array<[string, string]>) =>
	readQuery(`/?${new URLSearchParams(given.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]))}`);

const rowWith = (params: Record<string, string>) => ({params, template_params: null}) as unknown as ResolvedRow;

test('no query sets a scheme, a package, a fragment, an extra or a host, whatever it holds', (t) => {
	const targetsOf = (query: Record<string, string> | null, scheme: string | null) =>
		(['ios-browser', 'android-browser', 'desktop'] as const).flatMap((visitorClass) => {
			const params = withQuery({own: '1'}, query ?? {});
			return hrefsOf({query, params, android: [{packageName: 'com.acme.app', scheme}]}, visitorClass);
		});
	/** What no query may change: all but the query of a target. */
	const fixed = (href: string) => {
		const [, before = '', fragment = ''] = /^([^?#]*)[^#]*(#.*)?$/s.exec(href) ?? [];
		return before + fragment;
	};
	fc.assert(
		fc.property(pairs, fc.constantFrom(null, 'acme'), (given, scheme) => {
			const query = visitQueryOf(rowWith({own: '1'}), queryOf(given));
			const targets = targetsOf(query, scheme);
			t.deepEqual(targets.map(fixed), targetsOf(null, scheme).map(fixed));
			for (const href of targets) {
				t.regex(href, /^[\x21-\x7e]*$/);
				t.true(href.split('#').length <= 2);
				const shown = new URL(href.replace(/^intent:/, 'https:').replace(/#.*/s, '')).searchParams;
				t.is(shown.get('own') ?? '1', '1');
				if (href.startsWith('https://shop.example.com')) {
					t.true([...shown.keys()].every((name) => /^utm_|^gclid$/.test(name)));
				}
			}
		}),
		{numRuns: isDeep ? 2000 : 60},
	);
});
