import test from 'ava';
import {exampleAppConfig, link, organization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {clicked, iPhoneApp, network, nothing, open, visit} from './_phones.ts';

const service = serviceOf(test);

/** First opens of phones that clicked nothing: how common each is gets known by them. */
const countPhones = async (acme: Awaited<ReturnType<typeof organization>>, count: number, phone: object) => {
	for (let index = 0; index < count; index += 1) {
		await open(service, network()(1), {...iPhoneApp, ...phone, deviceId: `counted-${index}`}, acme);
	}

	await service.services.background.settle();
	// What a process knows of phones is up to a minute old.
	service.clock.advance(60);
};

const rare = {platform: 'Android', osVersion: '14', deviceModel: 'Pixel 8', language: 'de-DE'};

// Serial: they move the one clock.
test.serial('a guess is high for ten minutes after the click, then medium by the same method', async (t) => {
	const acme = await organization(service);
	await countPhones(acme, 30, rare);
	const place = network();
	const {link: sale} = await clicked(service, acme, place(1));
	await visit(service, sale, place(2));
	service.clock.advance(600);
	t.like((await open(service, place(1), {...iPhoneApp, deviceId: 'device-in-time'}, acme)).body, {
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'high',
	});
	service.clock.advance(1);
	t.like((await open(service, place(2), {...iPhoneApp, deviceId: 'device-late'}, acme)).body, {
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'medium',
		linkId: sale.id,
	});
});

test.serial('an organization that asks for high gets no guess on an older click, and the token of it', async (t) => {
	const acme = await organization(service, {appConfig: {...exampleAppConfig, minimumConfidence: 'high'}});
	const address = network()(1);
	const {token} = await clicked(service, acme, address);
	service.clock.advance(601);
	t.deepEqual((await open(service, address, iPhoneApp)).body, nothing);
	t.like((await open(service, address, {clipboardToken: token})).body, {matchConfidence: 'exact'});
});

test.serial('a guess on a phone as most phones of the app are is less sure than on a rare one', async (t) => {
	const [common, acme] = [await organization(service), await organization(service)];
	await countPhones(common, 30, {});
	await countPhones(acme, 30, rare);
	const confidences = [];
	for (const one of [common, acme]) {
		const address = network()(1);
		await clicked(service, one, address);
		service.clock.advance(300);
		confidences.push((await open(service, address, iPhoneApp, one)).body.matchConfidence);
	}

	t.deepEqual(confidences, ['medium', 'high']);
});

test.serial('where few people click, the newest tap that nothing speaks against is the answer', async (t) => {
	const acme = await organization(service);
	const [here, there] = [network()(1), network()(1)];
	const {link: sale} = await clicked(service, acme, here);
	await visit(service, sale, there);
	service.clock.advance(1);
	const {link: later} = await clicked(service, acme, here);
	await visit(service, await link(acme), there, {language: 'ja-JP', timezone: 'Asia/Tokyo'});
	for (const [address, deviceId, linkId] of [
		[here, 'device-newest', later.id],
		[there, 'device-by-signals', sale.id],
	] as const) {
		t.is((await open(service, address, {...iPhoneApp, deviceId}, acme)).body.linkId, linkId);
	}
});

test.serial('the later tap of a visitor on another link wins, from whatever address', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	const {cookie} = await clicked(service, acme, address);
	service.clock.advance(60);
	const later = await link(acme);
	await visit(service, later, network()(1), {headers: {Cookie: String(cookie)}});
	// An app's request waits for the clicks of its own address alone.
	await service.services.clickJournal.settled();
	t.like((await open(service, address, iPhoneApp, acme)).body, {matchConfidence: 'high', linkId: later.id});
});

test.serial('a second tap from another address leaves the click findable at both', async (t) => {
	const acme = await organization(service);
	const [first, second] = [network()(1), '2001:db8:77:1::1'];
	const {link: sale, cookie} = await clicked(service, acme, first);
	await visit(service, sale, second, {headers: {Cookie: String(cookie)}});
	t.is((await open(service, first, {...iPhoneApp, deviceId: 'device-ipv4'}, acme)).body.linkId, sale.id);
	t.deepEqual((await open(service, second, {...iPhoneApp, deviceId: 'device-other'}, acme)).body, nothing);
	const again = await clicked(service, acme, first);
	await visit(service, again.link, second, {headers: {Cookie: String(again.cookie)}});
	t.is((await open(service, second, {...iPhoneApp, deviceId: 'device-ipv6'}, acme)).body.linkId, again.link.id);
});

test.serial("another organization's clicks leave a guess high with a key, and lower it without", async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const address = network()(1);
	const foreign = await link(globex);
	const sale = await link(acme);
	for (const [key, confidence] of [
		[acme, 'high'],
		[undefined, 'medium'],
	] as const) {
		await visit(service, foreign, address, {language: 'ja-JP', timezone: 'Asia/Tokyo'});
		await visit(service, sale, address);
		t.like((await open(service, address, {...iPhoneApp, deviceId: `device-${confidence}`}, key)).body, {
			matchMethod: 'FINGERPRINT_EXACT',
			matchConfidence: confidence,
			linkId: sale.id,
		});
	}
});
