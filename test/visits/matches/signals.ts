import test from 'ava';
import {anonymous} from '../../helpers/callers.ts';
import {serviceOf, storedRows} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {iPhoneApp, match, network, open, pathOf, sendSignals, userAgents, visit} from './_phones.ts';

const service = serviceOf(test);

const screen = {screen: {width: 393, height: 852}, pixelRatio: 3, touchPoints: 5};
const newYork = {timezone: 'America/New_York'};
const pageSignals = {...newYork, ...screen, languages: ['en-US', 'en']};
const silent = {language: 'en', timezone: null};
const android = {userAgent: userAgents.android, timezone: null};
const [inIndia, calcutta] = [{...android, language: 'en-IN'}, {timezone: 'Asia/Calcutta'}];
const ofPixel = {...pageSignals, model: 'Pixel 8', platformVersion: '14.0.0'};
const pixel = {platform: 'Android', osVersion: '14', deviceModel: 'Pixel 8'};
const indian = {platform: 'Android', osVersion: '14', language: 'en_IN', timezone: 'Asia/Kolkata'};
const [exact, scored] = [{matchMethod: 'FINGERPRINT_EXACT'}, {matchMethod: 'FINGERPRINT_SCORED', matchScore: 100}];

for (const [title, headers, sent, app, expected] of [
	['the beacon makes an exact fingerprint of a click', silent, pageSignals, iPhoneApp, exact],
	['without it, by headers alone, the click is scored', silent, null, iPhoneApp, scored],
	['the beacon wins over the timezone header', {timezone: 'Europe/Paris'}, newYork, iPhoneApp, exact],
	['names of one timezone are equal between a browser and an app', inIndia, calcutta, indian, scored],
	['an Android browser reports its model and version by the beacon', android, ofPixel, {...iPhoneApp, ...pixel}, exact],
] as const) {
	test(title, async (t) => {
		const sale = await linked(service);
		const address = network()(1);
		const {userAgent = userAgents.iPhone, ...rest}: Parameters<typeof visit>[3] = headers;
		const {token} = await visit(service, sale, address, {...rest, userAgent});
		if (sent !== null) {
			const answer = await sendSignals(service, sale, {token, ...sent}, {'User-Agent': userAgent});
			t.like(answer, {status: 204, text: ''});
			const [click] = await storedRows(service, 'clicks', {link_id: sale.id});
			t.is(click.timezone, sent.timezone);
		}

		t.like(await match(service, address, app), {...expected, linkId: sale.id});
	});
}

test('a Mac with a touch screen is an iPad, and one without is a Mac', async (t) => {
	const sale = await linked(service);
	for (const [touchPoints, platform, matched] of [
		[5, 'ios', true],
		[0, 'desktop', false],
	] as const) {
		const address = network()(1);
		const {token} = await visit(service, sale, address, {userAgent: userAgents.iPad});
		await sendSignals(service, sale, {token, ...pageSignals, touchPoints}, {'User-Agent': userAgents.iPad});
		const {body} = await open(service, address, {platform: 'iOS', language: 'en-US', timezone: 'America/New_York'});
		t.is(body.matched, matched, platform);
		t.is((await storedRows(service, 'clicks', {link_id: sale.id, platform})).length, 1);
	}
});

test.serial('a click takes signals once, and within 60 seconds', async (t) => {
	const sale = await linked(service);
	const zoneOf = async (token: string | null, ...zones: string[]) => {
		for (const timezone of zones) {
			t.is((await sendSignals(service, sale, {token, timezone})).status, 204);
		}

		const rows = await storedRows(service, 'match_clicks', {link_id: sale.id});
		return rows.toSorted((a, b) => b.created_at - a.created_at)[0].timezone;
	};
	const first = await visit(service, sale, network()(1), {timezone: null});
	t.is(await zoneOf(first.token, 'Europe/Paris', 'Asia/Tokyo'), 'Europe/Paris');
	service.clock.advance(1);
	const second = await visit(service, sale, network()(1), {timezone: null});
	service.clock.advance(60);
	t.is(await zoneOf(second.token, 'Europe/Paris'), 'Europe/Paris');
	const third = await visit(service, sale, network()(1), {timezone: null});
	service.clock.advance(60.001);
	t.is(await zoneOf(third.token, 'Europe/Paris'), null);
});

test('the answer is 204 for an unknown token and for values that make no sense', async (t) => {
	const sale = await linked(service);
	const {token} = await visit(service, sale, network()(1), {timezone: null});
	const strangers = ['9bbc_', '../..', '', 'opl_', ...[31, 32, 33].map((length) => `opl_${'x'.repeat(length)}`)];
	const wrongTokens = [...strangers, `opl_${'é'.repeat(32)}`, `${token}x`, ` ${token}`, [token]];
	for (const body of [
		{},
		[],
		null,
		...wrongTokens.map((wrong) => ({token: wrong, ...pageSignals})),
		{token: 7, timezone: 7, languages: 'en', touchPoints: 'many'},
		{token, timezone: 'Mars/Olympus', languages: [7], model: {}, platformVersion: [], touchPoints: null},
	]) {
		t.is((await sendSignals(service, sale, body ?? {})).status, 204, JSON.stringify(body));
	}

	const rows = await storedRows(service, 'match_clicks', {link_id: sale.id});
	t.like(rows, {length: 1, 0: {timezone: null, language: 'en-US', device_model: null}});
	t.is((await storedRows(service, 'clicks', {link_id: sale.id})).length, 1);
});

test('signals are JSON of at most 2 KB, sent as JSON or as text', async (t) => {
	const sale = await linked(service);
	const caller = anonymous(service);
	const path = `${pathOf(sale.url)}/signals`;
	t.is((await caller.post(path, {})).status, 204);
	t.is((await caller.post(path, 'x', {'Content-Type': 'text/plain'})).status, 400);
	t.is((await caller.post(path, {padding: 'x'.repeat(2048)})).status, 413);
	t.is((await caller.post(path, '{}', {'Content-Type': 'text/html'})).status, 415);
});

test('signals go where links resolve: a malformed orgKey is 400, an unknown host 404', async (t) => {
	t.is((await anonymous(service).post('/abc/code/signals', {})).status, 400);
	t.is((await anonymous(service).post('/AB12/code/signals', {}, {Host: 'elsewhere.example'})).status, 404);
	t.is((await anonymous(service).get('/AB12/code/signals')).status, 404);
});
