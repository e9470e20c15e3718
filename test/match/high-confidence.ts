import test from 'ava';
import {exampleAppConfig, link, organization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {clicked, iPhoneApp, network, nothing, open, userAgents, visit} from './_phones.ts';

const service = serviceOf(test);

// Serial: they move the one clock.
test.serial('a guess is high for ten minutes after the click, then medium by the same method', async (t) => {
	const acme = await organization(service);
	const place = network();
	const {link: sale} = await clicked(service, acme, place(1));
	await visit(service, sale, place(2));
	await visit(service, sale, place(3));
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
	t.like((await open(service, place(3), {...iPhoneApp, language: 'en-GB', deviceId: 'device-british'}, acme)).body, {
		matchMethod: 'FINGERPRINT_SCORED',
		matchConfidence: 'medium',
		matchScore: 79,
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

test.serial('a newer click on another link that told too little to be ruled out makes a guess medium', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	const {link: sale} = await clicked(service, acme, address);
	service.clock.advance(1);
	await visit(service, await link(acme), address, {timezone: null});
	t.like((await open(service, address, iPhoneApp, acme)).body, {
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'medium',
		linkId: sale.id,
	});
});

test.serial(
	'a newer click leaves a guess high where it is on the same link, or of somebody else by its signals',
	async (t) => {
		const acme = await organization(service);
		const [here, there] = [network()(1), network()(1)];
		const {link: sale} = await clicked(service, acme, here);
		await visit(service, sale, there);
		service.clock.advance(1);
		await visit(service, sale, here, {timezone: null});
		await visit(service, await link(acme), there, {language: 'ja-JP', timezone: 'Asia/Tokyo'});
		for (const [address, deviceId] of [
			[here, 'device-same-link'],
			[there, 'device-by-signals'],
		] as const) {
			t.like((await open(service, address, {...iPhoneApp, deviceId}, acme)).body, {
				matchMethod: 'FINGERPRINT_EXACT',
				matchConfidence: 'high',
				linkId: sale.id,
			});
		}
	},
);

const iOS26 = {
	userAgent:
		'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1',
};
const appOn26 = {...iPhoneApp, osVersion: '26.1'};

test.serial('in company a click that tells only the major version of its OS makes a guess medium', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	const {link: sale} = await clicked(service, acme, address);
	const company = await link(acme);
	const arrive = (count: number) =>
		Promise.all(
			Array.from({length: count}, () =>
				visit(service, company, address, {userAgent: userAgents.android, language: 'ja-JP', timezone: 'Asia/Tokyo'}),
			),
		);
	await arrive(6);
	await visit(service, sale, address, iOS26);
	t.like((await open(service, address, {...appOn26, deviceId: 'device-of-eight'}, acme)).body, {
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'high',
	});
	await arrive(1);
	await visit(service, sale, address, iOS26);
	t.like((await open(service, address, {...appOn26, deviceId: 'device-of-nine'}, acme)).body, {
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'medium',
		linkId: sale.id,
	});
	await arrive(1);
	t.like((await open(service, address, {...iPhoneApp, deviceId: 'device-that-tells'}, acme)).body, {
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'high',
		linkId: sale.id,
	});
});

test.serial("another organization's clicks are no company", async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const address = network()(1);
	const foreign = await link(globex);
	await Promise.all(Array.from({length: 12}, () => visit(service, foreign, address, {userAgent: userAgents.android})));
	const sale = await link(acme);
	await visit(service, sale, address, iOS26);
	t.like((await open(service, address, appOn26, acme)).body, {
		matchMethod: 'FINGERPRINT_EXACT',
		matchConfidence: 'high',
		linkId: sale.id,
	});
});
