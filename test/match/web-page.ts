import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {serviceOf} from '../helpers/service.ts';
import {clicked, iPhoneApp, network, nothing, open} from './_phones.ts';

const service = serviceOf(test);

/** A request as a script of a web page makes it. */
const fromPage = (address: string, fields: object, headers: Record<string, string> = {}) =>
	anonymous(service, address).post('/match', fields, {Origin: 'https://evil.example', ...headers});

test('a web page without a key gets no link by a guess, and takes none from the app', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	const {link: sale} = await clicked(service, acme, address);
	for (const headers of [
		{},
		{Origin: 'null'},
		{'X-API-Key': `opl_sdk_${'x'.repeat(43)}`},
		{'X-API-Key': acme.serverKey},
		{'X-API-Key': ''},
	]) {
		const {status, body, headers: answered} = await fromPage(address, iPhoneApp, headers);
		t.is(status, 200);
		t.deepEqual(body, nothing);
		t.is(answered['access-control-allow-origin'], '*');
	}

	t.is((await open(service, address, iPhoneApp)).body.linkId, sale.id);
});

test('nor is it told again what a guess or a token gave the app a moment ago', async (t) => {
	const acme = await organization(service);
	const [one, other] = [network()(1), network()(1)];
	const {link: sale} = await clicked(service, acme, one);
	t.is((await open(service, one, iPhoneApp)).body.linkId, sale.id);
	t.deepEqual((await fromPage(one, iPhoneApp)).body, nothing);
	const {token} = await clicked(service, acme, other);
	t.true((await open(service, other, {...iPhoneApp, clipboardToken: token})).body.matched);
	t.deepEqual((await fromPage(other, iPhoneApp)).body, nothing);
});

test('its miss is recorded as guesses_off', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	await clicked(service, acme, address);
	const deviceId = `device-of-a-page-${acme.orgKey}`;
	await fromPage(address, {...iPhoneApp, deviceId});
	const [attempt] = await service.services.db('match_attempts').where({device_id: deviceId});
	t.like(attempt, {matched: false, reason: 'guesses_off', organization_id: null});
});

test('a web page with a token, or with the CLIENT key of an organization, is answered as an app is', async (t) => {
	const acme = await organization(service);
	const [one, other] = [network()(1), network()(1)];
	const {link: sale, token} = await clicked(service, acme, one);
	t.like((await fromPage(one, {clipboardToken: token})).body, {matchMethod: 'CLIPBOARD', linkId: sale.id});
	const {link: second} = await clicked(service, acme, other);
	t.is((await fromPage(other, iPhoneApp, {'X-API-Key': acme.clientKey})).body.linkId, second.id);
});
