import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {serviceOf, storedRows} from '../../helpers/service.ts';
import {ownService} from '../_own.ts';
import {iPhoneApp, match, network, open, pathOf, sendSignals, userAgents, visit} from './_phones.ts';

const service = serviceOf(test);

const pageSignals = {
	timezone: 'America/New_York',
	languages: ['en-US', 'en'],
	screen: {width: 393, height: 852},
	pixelRatio: 3,
	touchPoints: 5,
};
const silent = {language: 'en', timezone: null};

test('the beacon makes an exact fingerprint of a click that headers alone would only score', async (t) => {
	const sale = await link(await organization(service));
	const address = network()(1);
	const {token} = await visit(service, sale, address, silent);
	const {status, text} = await sendSignals(service, sale, {token, ...pageSignals});
	t.is(status, 204);
	t.is(text, '');
	t.like(await match(service, address, iPhoneApp), {matchMethod: 'FINGERPRINT_EXACT', linkId: sale.id});
	const [click] = await storedRows(service, 'clicks', {link_id: sale.id});
	t.is(click.timezone, 'America/New_York');
});

test('without it the click is scored', async (t) => {
	const sale = await link(await organization(service));
	const address = network()(1);
	await visit(service, sale, address, silent);
	t.like(await match(service, address, iPhoneApp), {matchMethod: 'FINGERPRINT_SCORED', matchScore: 100});
});

test('the timezone header is honoured, and the beacon wins over it', async (t) => {
	const sale = await link(await organization(service));
	const [here, there] = [network()(1), network()(1)];
	await visit(service, sale, here, {timezone: 'America/New_York'});
	t.like(await match(service, here, iPhoneApp), {matchMethod: 'FINGERPRINT_EXACT'});
	const {token} = await visit(service, sale, there, {timezone: 'Europe/Paris'});
	await sendSignals(service, sale, {token, timezone: 'America/New_York'});
	t.like(await match(service, there, iPhoneApp), {matchMethod: 'FINGERPRINT_EXACT'});
});

test('names of one timezone are equal between a browser and an app', async (t) => {
	const sale = await link(await organization(service));
	const address = network()(1);
	const {token} = await visit(service, sale, address, {
		userAgent: userAgents.android,
		language: 'en-IN',
		timezone: null,
	});
	await sendSignals(service, sale, {token, timezone: 'Asia/Calcutta'}, {'User-Agent': userAgents.android});
	const app = {platform: 'Android', osVersion: '14', language: 'en_IN', timezone: 'Asia/Kolkata'};
	t.like(await match(service, address, app), {matchMethod: 'FINGERPRINT_SCORED', matchScore: 100});
});

test('an Android browser reports its model and version by the beacon', async (t) => {
	const sale = await link(await organization(service));
	const address = network()(1);
	const {token} = await visit(service, sale, address, {userAgent: userAgents.android, timezone: null});
	const hints = {token, ...pageSignals, model: 'Pixel 8', platformVersion: '14.0.0'};
	await sendSignals(service, sale, hints, {'User-Agent': userAgents.android});
	const app = {...iPhoneApp, platform: 'Android', osVersion: '14', deviceModel: 'Pixel 8'};
	t.like(await match(service, address, app), {matchMethod: 'FINGERPRINT_EXACT'});
});

test('a Mac with a touch screen is an iPad, and one without is a Mac', async (t) => {
	const sale = await link(await organization(service));
	for (const [touchPoints, platform, matched] of [
		[5, 'ios', true],
		[0, 'desktop', false],
	] as const) {
		const address = network()(1);
		const {token} = await visit(service, sale, address, {userAgent: userAgents.iPad});
		await sendSignals(service, sale, {token, ...pageSignals, touchPoints}, {'User-Agent': userAgents.iPad});
		const {body} = await open(service, address, {platform: 'iOS', language: 'en-US', timezone: 'America/New_York'});
		t.is(body.matched, matched, platform);
		const rows = await storedRows(service, 'clicks', {link_id: sale.id, platform});
		t.is(rows.length, 1);
	}
});

test('a click takes signals once, and within 60 seconds', async (t) => {
	const own = await ownService(t);
	const sale = await link(await organization(own));
	const zoneOf = async (token: string | null, ...zones: string[]) => {
		for (const timezone of zones) {
			t.is((await sendSignals(own, sale, {token, timezone})).status, 204);
		}

		const rows = await storedRows(own, 'match_clicks', {});
		return rows.toSorted((a, b) => b.created_at - a.created_at)[0].timezone;
	};
	const first = await visit(own, sale, network()(1), {timezone: null});
	t.is(await zoneOf(first.token, 'Europe/Paris', 'Asia/Tokyo'), 'Europe/Paris');
	own.clock.advance(1);
	const second = await visit(own, sale, network()(1), {timezone: null});
	own.clock.advance(60);
	t.is(await zoneOf(second.token, 'Europe/Paris'), 'Europe/Paris');
	const third = await visit(own, sale, network()(1), {timezone: null});
	own.clock.advance(60.001);
	t.is(await zoneOf(third.token, 'Europe/Paris'), null);
});

test('the answer is 204 for an unknown token and for values that make no sense', async (t) => {
	const sale = await link(await organization(service));
	const {token} = await visit(service, sale, network()(1), {timezone: null});
	for (const body of [
		{},
		[],
		null,
		{token: `opl_${'x'.repeat(32)}`, ...pageSignals},
		...['9bbc_', '../..', '', 'opl_', `opl_${'x'.repeat(31)}`, `opl_${'x'.repeat(33)}`, `opl_${'é'.repeat(32)}`].map(
			(malformed) => ({token: malformed, ...pageSignals}),
		),
		{token: `${token}x`, ...pageSignals},
		{token: ` ${token}`, ...pageSignals},
		{token: [token], ...pageSignals},
		{token: 7, timezone: 7, languages: 'en', touchPoints: 'many'},
		{token, timezone: 'Mars/Olympus', languages: [7], model: {}, platformVersion: [], touchPoints: null},
	]) {
		t.is((await sendSignals(service, sale, body ?? {})).status, 204, JSON.stringify(body));
	}

	const rows = await storedRows(service, 'match_clicks', {link_id: sale.id});
	t.deepEqual(
		rows.map(({timezone, language, device_model}) => [timezone, language, device_model]),
		[[null, 'en-US', null]],
	);
	t.is((await storedRows(service, 'clicks', {link_id: sale.id})).length, 1);
});

test('signals are JSON of at most 2 KB, sent as JSON or as text', async (t) => {
	const sale = await link(await organization(service));
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

test('signals share the 500 requests a second of the page', async (t) => {
	const own = await ownService(t);
	const sale = await link(await organization(own));
	const caller = anonymous(own);
	const burst = await Promise.all(
		Array.from({length: 505}, (_, index) =>
			index % 2 === 0 ? caller.get(pathOf(sale.url)) : caller.post(`${pathOf(sale.url)}/signals`, {}),
		),
	);
	t.is(burst.filter(({status}) => status === 429).length, 5);
});
