import test from 'ava';
import {exampleAppConfig, link, organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf, storedRows} from '../../helpers/service.ts';
import {ownService} from '../_own.ts';
import {clicked, iPhoneApp, network, nothing, open, tapped, userAgents, visit} from './_phones.ts';

const service = serviceOf(test);

test('an app that is alike in everything is matched with high confidence and without a score', async (t) => {
	const {address, link: sale} = await tapped(service, {path: '/item/7', params: {a: 'b'}});
	t.deepEqual((await open(service, address, iPhoneApp)).body, {
		matched: true,
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'high',
		linkId: sale.id,
		path: '/item/7',
		params: {a: 'b'},
	});
});

test('an app that is less alike is matched with its probability', async (t) => {
	const {address, link: sale} = await tapped(service);
	const {body} = await open(service, address, {...iPhoneApp, language: 'en-GB'});
	t.deepEqual(body, {
		matched: true,
		matchMethod: 'FINGERPRINT_SCORED',
		matchConfidence: 'high',
		matchScore: 100,
		linkId: sale.id,
		path: '/sale',
		params: {},
	});
});

test('an app that reports nothing is matched by its address alone', async (t) => {
	const {address, link: sale} = await tapped(service);
	const {body} = await open(service, address);
	t.like(body, {matchMethod: 'IP_FUZZY', matchConfidence: 'low', linkId: sale.id});
	t.false('matchScore' in body);
});

test('another address of the same /24 is enough for low confidence, another network for nothing', async (t) => {
	const acme = await organization(service);
	const place = network();
	const {link: sale} = await clicked(service, acme, place(1));
	t.deepEqual((await open(service, network()(1), iPhoneApp)).body, nothing);
	t.deepEqual((await open(service, place(2))).body, nothing);
	const {body} = await open(service, place(2), {...iPhoneApp, deviceId: 'device-in-network'});
	t.like(body, {matchMethod: 'FINGERPRINT_SCORED', matchConfidence: 'low', matchScore: 99, linkId: sale.id});
});

test('addresses of one IPv6 /64 are one, and an IPv4 address mapped into IPv6 is itself', async (t) => {
	const acme = await organization(service);
	for (const [clickAddress, appAddress] of [
		['2001:db8:1:2::1', '2001:db8:1:2:ffff::9'],
		['::ffff:198.51.100.7', '198.51.100.7'],
		['64:ff9b::808:808', '8.8.8.8'],
	] as const) {
		const {link: sale} = await clicked(service, acme, clickAddress);
		const {body} = await open(service, appAddress, iPhoneApp, acme);
		t.like(body, {matchMethod: 'FINGERPRINT_EXACT', linkId: sale.id}, clickAddress);
	}

	await clicked(service, acme, '2001:db8:1:3::1');
	t.like((await open(service, '2001:db8:1:4::1', iPhoneApp, acme)).body, {matchMethod: 'FINGERPRINT_SCORED'});
	t.deepEqual((await open(service, '2001:db8:2:4::1', iPhoneApp, acme)).body, nothing);
});

test('only the hop before the trusted proxy decides the address, whatever a caller claims', async (t) => {
	const acme = await organization(service);
	const [victim, thief] = [network()(1), network()(1)];
	await clicked(service, acme, victim);
	t.deepEqual((await open(service, `${victim}, ${thief}`, iPhoneApp)).body, nothing);
	t.true((await open(service, `${thief}, ${victim}`, iPhoneApp)).body.matched);
});

test('a matched click matches nobody else, and its answer is repeated to its device for 30 seconds', async (t) => {
	const own = await ownService(t);
	const acme = await organization(own);
	const address = network()(1);
	await clicked(own, acme, address);
	const first = await open(own, address, {...iPhoneApp, deviceId: 'device-0001'});
	t.is(first.body.matchMethod, 'FINGERPRINT_EXACT');
	t.deepEqual((await open(own, address, {...iPhoneApp, deviceId: 'device-0002'})).body, nothing);
	own.clock.advance(30 - 1);
	t.deepEqual((await open(own, address, {...iPhoneApp, deviceId: 'device-0001'})).body, first.body);
	own.clock.advance(1);
	t.deepEqual((await open(own, address, {...iPhoneApp, deviceId: 'device-0001'})).body, nothing);
});

test('within the grace a token of another open click wins over the repeated guess', async (t) => {
	const {acme, address, link: guessed} = await tapped(service);
	const device = {...iPhoneApp, deviceId: 'device-guessed'};
	t.is((await open(service, address, device)).body.linkId, guessed.id);
	const {link: proven, token} = await clicked(service, acme, network()(1));
	t.like((await open(service, address, {...device, clipboardToken: token})).body, {
		matchMethod: 'CLIPBOARD',
		linkId: proven.id,
	});
});

test('of 25 first opens at once by one fingerprint, one is matched', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	await clicked(service, acme, address);
	const answers = await Promise.all(
		Array.from({length: 25}, (_, index) => open(service, address, {...iPhoneApp, deviceId: `device-of-one-${index}`})),
	);
	t.is(answers.filter(({body}) => body.matched).length, 1);
});

test('of 20 first opens at once for 5 clicks, 5 are matched, each to a click of its own', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	const sale = await link(acme);
	await Promise.all(Array.from({length: 5}, () => visit(service, sale, address)));
	const answers = await Promise.all(
		Array.from({length: 20}, (_, index) => open(service, address, {...iPhoneApp, deviceId: `device-of-five-${index}`})),
	);
	t.is(answers.filter(({body}) => body.matched).length, 5);
	const rows = (await storedRows(service, 'match_clicks', {link_id: sale.id})).filter(
		(row) => row.consumed_by !== null,
	);
	t.is(new Set(rows.map(({consumed_by}) => consumed_by.toString('hex'))).size, 5);
});

test('two equal clicks on different links give the newest by its score; on one link there is no doubt', async (t) => {
	const own = await ownService(t);
	const acme = await organization(own);
	const [here, there] = [network()(1), network()(1)];
	await clicked(own, acme, here);
	own.clock.advance(1);
	const {link: newest} = await clicked(own, acme, here);
	t.like((await open(own, here, iPhoneApp)).body, {
		matchMethod: 'FINGERPRINT_SCORED',
		matchConfidence: 'medium',
		matchScore: 95,
		linkId: newest.id,
	});
	const sale = await link(acme);
	await visit(own, sale, there);
	await visit(own, sale, there);
	t.like((await open(own, there, iPhoneApp)).body, {matchMethod: 'FINGERPRINT_EXACT', linkId: sale.id});
});

test('two clicks of one browser with different languages are two people: the app gets that of its own language', async (t) => {
	const phones = await ownService(t);
	const acme = await organization(phones);
	for (const [language, other] of [
		['en-US', 'en-GB'],
		['en-GB', 'en-US'],
	] as const) {
		const address = network()(1);
		const own = await link(acme);
		await visit(phones, own, address, {language});
		phones.clock.advance(30);
		await visit(phones, await link(acme), address, {language: other});
		t.like(
			(await open(phones, address, {...iPhoneApp, language, deviceId: `device-${language}`})).body,
			{matchMethod: 'FINGERPRINT_EXACT', linkId: own.id},
			language,
		);
	}
});

test('another browser of the same phone may have another language: the newer click is the better guess', async (t) => {
	const own = await ownService(t);
	const acme = await organization(own);
	const address = network()(1);
	await visit(own, await link(acme), address);
	own.clock.advance(30);
	const newest = await link(acme);
	await visit(own, newest, address, {userAgent: userAgents.iPhoneChrome, language: 'en-GB'});
	t.like((await open(own, address, iPhoneApp)).body, {matchMethod: 'FINGERPRINT_SCORED', linkId: newest.id});
});

test('guesses have their windows, and the link may shorten them', async (t) => {
	const own = await ownService(t);
	const acme = await organization(own);
	const place = network();
	await clicked(own, acme, place(1), {matchWindowHours: 1});
	own.clock.advance(3600);
	t.deepEqual((await open(own, place(1), iPhoneApp)).body, nothing);

	const address = network()(1);
	await clicked(own, acme, address);
	own.clock.advance(3601);
	t.deepEqual((await open(own, address)).body, nothing);
	own.clock.advance(5 * 3600);
	t.deepEqual((await open(own, address, {...iPhoneApp, language: 'en-GB'})).body, nothing);
	t.like((await open(own, address, iPhoneApp)).body, {matchMethod: 'FINGERPRINT_EXACT', matchConfidence: 'medium'});
	const {link: later} = await clicked(own, acme, place(1));
	own.clock.advance(1800);
	t.like((await open(own, place(1), iPhoneApp)).body, {matchMethod: 'FINGERPRINT_EXACT', linkId: later.id});
});

test('a contradiction rules a click out, even by its address', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	const sale = await link(acme);
	await visit(service, sale, address, {userAgent: userAgents.android});
	t.deepEqual((await open(service, address, iPhoneApp)).body, nothing);
	t.deepEqual((await open(service, address, {platform: 'iOS'})).body, nothing);
	await visit(service, sale, address, {userAgent: userAgents.windows});
	t.deepEqual((await open(service, address, {platform: 'iOS'})).body, nothing);
	t.like((await open(service, address, {platform: 'Android'})).body, {matchMethod: 'IP_FUZZY'});
});

test('clicks on links that no longer resolve are never guessed', async (t) => {
	const {acme, address, link: sale} = await tapped(service);
	await acme.server.patch(`/links/${sale.id}`, {isActive: false});
	t.deepEqual((await open(service, address, iPhoneApp)).body, nothing);
	await acme.server.patch(`/links/${sale.id}`, {isActive: true});
	t.true((await open(service, address, iPhoneApp)).body.matched);
});

test('a key confines guesses to its organization; an invalid one, or one of the other tier, is as none', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const address = network()(1);
	const {link: sale} = await clicked(service, acme, address);
	t.deepEqual((await open(service, address, iPhoneApp, globex)).body, nothing);
	t.deepEqual((await open(service, address, {}, globex)).body, nothing);
	t.is((await open(service, address, iPhoneApp, {clientKey: `opl_sdk_${'x'.repeat(43)}`})).body.linkId, sale.id);
	const {link: second} = await clicked(service, acme, address);
	const device = (deviceId: string) => ({...iPhoneApp, deviceId});
	t.is((await open(service, address, device('second-device'), {clientKey: globex.serverKey})).body.linkId, second.id);
	const {link: third} = await clicked(service, acme, address);
	await admin(service).post(`/admin/organizations/${globex.id}/suspend`);
	t.is((await open(service, address, device('third-device'), globex)).body.linkId, third.id);
});

test('a key finds its own click among those of other organizations at the same address', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const address = network()(1);
	const {link: own} = await clicked(service, acme, address);
	await clicked(service, globex, address);
	t.like((await open(service, address, {}, acme)).body, {matchMethod: 'IP_FUZZY', linkId: own.id});
});

test('without a key, clicks of several organizations stop IP_FUZZY and lower SCORED', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const address = network()(1);
	const {link: sale} = await clicked(service, acme, address);
	const foreign = await link(globex);
	await visit(service, foreign, address, {language: 'fr-FR', timezone: 'Europe/Paris'});
	t.deepEqual((await open(service, address)).body, nothing);
	t.like((await open(service, address, {...iPhoneApp, language: 'en-GB'})).body, {
		matchMethod: 'FINGERPRINT_SCORED',
		matchConfidence: 'medium',
		linkId: sale.id,
	});
});

test('a repeated guess is confined by a key too', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const address = network()(1);
	await clicked(service, acme, address);
	const device = {...iPhoneApp, deviceId: 'device-confined'};
	t.true((await open(service, address, device)).body.matched);
	t.deepEqual((await open(service, address, device, globex)).body, nothing);
	t.true((await open(service, address, device, acme)).body.matched);
});

test('an organization may switch guesses off, and tokens go on working', async (t) => {
	const {
		address,
		link: sale,
		token,
	} = await tapped(service, {}, {appConfig: {...exampleAppConfig, probabilisticMatching: false}});
	t.deepEqual((await open(service, address, iPhoneApp)).body, nothing);
	t.is((await open(service, address, {clipboardToken: token})).body.linkId, sale.id);
});

test('an organization may ask for a least confidence', async (t) => {
	const own = await ownService(t);
	const sure = await organization(own, {appConfig: {...exampleAppConfig, minimumConfidence: 'high'}});
	const address = network()(1);
	await clicked(own, sure, address);
	own.clock.advance(11 * 60);
	t.deepEqual((await open(own, address)).body, nothing);
	t.deepEqual((await open(own, address, {...iPhoneApp, deviceId: 'device-late'})).body, nothing);
	const elsewhere = network()(1);
	const {link: sale} = await clicked(own, sure, elsewhere);
	t.like((await open(own, elsewhere, iPhoneApp)).body, {matchConfidence: 'high', linkId: sale.id});

	const strict = await organization(service, {appConfig: {...exampleAppConfig, minimumConfidence: 'exact'}});
	const {token} = await clicked(service, strict, address);
	t.deepEqual((await open(service, address, {...iPhoneApp, deviceId: 'device-strict'})).body, nothing);
	t.true((await open(service, address, {clipboardToken: token})).body.matched);
});

test('clicks on another link stop IP_FUZZY, and those of other phones no guess by signals', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	const sale = await link(acme);
	const crowd = await link(acme);
	await Promise.all(
		Array.from({length: 20}, () => visit(service, crowd, address, {language: 'ja-JP', timezone: 'Asia/Tokyo'})),
	);
	await visit(service, sale, address);
	t.deepEqual((await open(service, address)).body, nothing);
	t.like((await open(service, address, {...iPhoneApp, language: 'en-GB'})).body, {
		matchMethod: 'FINGERPRINT_SCORED',
		linkId: sale.id,
	});
});
