import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {serviceOf, storedRows} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {clicked, device, iPhoneApp, match, network, nothing, tapped, userAgents, visit} from './_phones.ts';

const service = serviceOf(test);

const british = {...iPhoneApp, language: 'en-GB'};

for (const [title, app, matchMethod, matchConfidence, score] of [
	['alike in everything is matched with high confidence and no score', iPhoneApp, 'FINGERPRINT_EXACT', 'high', {}],
	['less alike is matched with its probability', british, 'FINGERPRINT_SCORED', 'high', {matchScore: 100}],
	['that reports nothing is matched by its address alone', {}, 'IP_FUZZY', 'low', {}],
] as const) {
	test(`an app ${title}`, async (t) => {
		const {address, link: sale} = await tapped(service, {path: '/item/7', params: {a: 'b'}});
		const found = {matched: true, matchMethod, matchConfidence, ...score};
		t.deepEqual(await match(service, address, app), {...found, linkId: sale.id, path: '/item/7', params: {a: 'b'}});
	});
}

test('another address of the same /24 is enough for low confidence, another network for nothing', async (t) => {
	const place = network();
	const {link: sale} = await clicked(service, await organization(service), place(1));
	t.deepEqual(await match(service, network()(1), iPhoneApp), nothing);
	t.deepEqual(await match(service, place(2)), nothing);
	const expected = {matchMethod: 'FINGERPRINT_SCORED', matchConfidence: 'low', matchScore: 99, linkId: sale.id};
	t.like(await match(service, place(2), device('device-in-network')), expected);
});

test('addresses of one IPv6 /64 are one, and an IPv4 address mapped into IPv6 is itself', async (t) => {
	const acme = await organization(service);
	for (const [clickAddress, appAddress] of [
		['2001:db8:1:2::1', '2001:db8:1:2:ffff::9'],
		['::ffff:198.51.100.7', '198.51.100.7'],
		['64:ff9b::808:808', '8.8.8.8'],
	] as const) {
		const {link: sale} = await clicked(service, acme, clickAddress);
		const found = await match(service, appAddress, iPhoneApp, acme);
		t.like(found, {matchMethod: 'FINGERPRINT_EXACT', linkId: sale.id}, clickAddress);
	}

	await clicked(service, acme, '2001:db8:1:3::1');
	t.is((await match(service, '2001:db8:1:4::1', iPhoneApp, acme)).matchMethod, 'FINGERPRINT_SCORED');
	t.deepEqual(await match(service, '2001:db8:2:4::1', iPhoneApp, acme), nothing);
});

test('only the hop before the trusted proxy decides the address, whatever a caller claims', async (t) => {
	const {address: victim} = await tapped(service);
	const thief = network()(1);
	t.deepEqual(await match(service, `${victim}, ${thief}`, iPhoneApp), nothing);
	t.true((await match(service, `${thief}, ${victim}`, iPhoneApp)).matched);
});

test.serial('a matched click matches nobody else, and is repeated to its device for 30 seconds', async (t) => {
	const {address} = await tapped(service);
	const first = await match(service, address, device('device-0001'));
	t.is(first.matchMethod, 'FINGERPRINT_EXACT');
	t.deepEqual(await match(service, address, device('device-0002')), nothing);
	service.clock.advance(30 - 1);
	t.deepEqual(await match(service, address, device('device-0001')), first);
	service.clock.advance(1);
	t.deepEqual(await match(service, address, device('device-0001')), nothing);
});

test('within the grace a token of another open click wins over the repeated guess', async (t) => {
	const {acme, address, link: guessed} = await tapped(service);
	const phone = device('device-guessed');
	t.is((await match(service, address, phone)).linkId, guessed.id);
	const {link: proven, token} = await clicked(service, acme, network()(1));
	const found = await match(service, address, {...phone, clipboardToken: token});
	t.like(found, {matchMethod: 'CLIPBOARD', linkId: proven.id});
});

test('of 25 first opens at once by one fingerprint, as many are matched as there are clicks', async (t) => {
	const sale = await linked(service);
	const address = network()(1);
	await Promise.all(Array.from({length: 5}, () => visit(service, sale, address)));
	const opens = Array.from({length: 25}, (_, index) => match(service, address, device(`device-at-once-${index}`)));
	t.is((await Promise.all(opens)).filter(({matched}) => matched).length, 5);
	const rows = await storedRows(service, 'match_clicks', {link_id: sale.id});
	const devices = rows.flatMap(({consumed_by: by}) => (by === null ? [] : [by.toString('hex')]));
	t.is(new Set(devices).size, 5);
});

test.serial('two equal clicks on different links give the newest by score; on one there is no doubt', async (t) => {
	const {acme, address: here} = await tapped(service);
	service.clock.advance(1);
	const {link: newest} = await clicked(service, acme, here);
	const expected = {matchMethod: 'FINGERPRINT_SCORED', matchConfidence: 'medium', matchScore: 95, linkId: newest.id};
	t.like(await match(service, here, iPhoneApp), expected);
	const {address: there, link: sale} = await tapped(service);
	await visit(service, sale, there);
	t.like(await match(service, there, iPhoneApp), {matchMethod: 'FINGERPRINT_EXACT', linkId: sale.id});
});

test.serial('two clicks of one browser in different languages are two people: the app gets its own', async (t) => {
	const acme = await organization(service);
	for (const [language, other] of [
		['en-US', 'en-GB'],
		['en-GB', 'en-US'],
	] as const) {
		const address = network()(1);
		const own = await link(acme);
		await visit(service, own, address, {language});
		service.clock.advance(30);
		await visit(service, await link(acme), address, {language: other});
		const found = await match(service, address, {...device(`device-${language}`), language});
		t.like(found, {matchMethod: 'FINGERPRINT_EXACT', linkId: own.id}, language);
	}
});

test.serial('another browser of a phone may have another language: the newer click is guessed', async (t) => {
	const {acme, address} = await tapped(service);
	service.clock.advance(30);
	const newest = await link(acme);
	await visit(service, newest, address, {userAgent: userAgents.iPhoneChrome, language: 'en-GB'});
	t.like(await match(service, address, iPhoneApp), {matchMethod: 'FINGERPRINT_SCORED', linkId: newest.id});
});

test.serial('a link may shorten the windows of guesses', async (t) => {
	const {acme, address: place} = await tapped(service, {matchWindowHours: 1});
	service.clock.advance(3600);
	t.deepEqual(await match(service, place, iPhoneApp), nothing);
	const {link: later} = await clicked(service, acme, place);
	service.clock.advance(1800);
	t.like(await match(service, place, iPhoneApp), {matchMethod: 'FINGERPRINT_EXACT', linkId: later.id});
});

test('clicks on links that no longer resolve are never guessed', async (t) => {
	const {acme, address, link: sale} = await tapped(service);
	await acme.server.patch(`/links/${sale.id}`, {isActive: false});
	t.deepEqual(await match(service, address, iPhoneApp), nothing);
	await acme.server.patch(`/links/${sale.id}`, {isActive: true});
	t.true((await match(service, address, iPhoneApp)).matched);
});

test('a key confines guesses to its organization; an invalid one, or one of the other tier, is as none', async (t) => {
	const {acme, address, link: sale} = await tapped(service);
	const globex = await organization(service);
	t.deepEqual(await match(service, address, iPhoneApp, globex), nothing);
	t.deepEqual(await match(service, address, {}, globex), nothing);
	t.is((await match(service, address, iPhoneApp, {clientKey: `opl_sdk_${'x'.repeat(43)}`})).linkId, sale.id);
	const {link: second} = await clicked(service, acme, address);
	const byServerKey = await match(service, address, device('second-device'), {clientKey: globex.serverKey});
	t.is(byServerKey.linkId, second.id);
	const {link: third} = await clicked(service, acme, address);
	await globex.operator.post('/suspend');
	t.is((await match(service, address, device('third-device'), globex)).linkId, third.id);
});

test('a repeated guess is confined by a key too', async (t) => {
	const {acme, address} = await tapped(service);
	const phone = device('device-confined');
	t.true((await match(service, address, phone)).matched);
	t.deepEqual(await match(service, address, phone, await organization(service)), nothing);
	t.true((await match(service, address, phone, acme)).matched);
});

test('clicks on another link stop IP_FUZZY, and those of other phones no guess by signals', async (t) => {
	const {acme, ...crowd} = await linked(service);
	const address = network()(1);
	const japanese = {language: 'ja-JP', timezone: 'Asia/Tokyo'};
	await Promise.all(Array.from({length: 20}, () => visit(service, crowd, address, japanese)));
	const {link: sale} = await clicked(service, acme, address);
	t.deepEqual(await match(service, address), nothing);
	t.like(await match(service, address, british), {matchMethod: 'FINGERPRINT_SCORED', linkId: sale.id});
});
