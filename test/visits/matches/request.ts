import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {clicked, device, iPhoneApp, match, network, nothing, open, tapped} from './_phones.ts';

const service = serviceOf(test);

test('without a click the answer is 200 with exactly two fields, whatever is sent', async (t) => {
	for (const body of [undefined, {}, iPhoneApp, {deviceId: 'device-0001', clipboardToken: 'a shopping list'}]) {
		const {status, body: answer} = await anonymous(service, network()(1)).post('/match', body);
		t.deepEqual([status, answer], [200, nothing]);
	}
});

test('lengths and the platform are checked, with one detail per field, and nothing is coerced', async (t) => {
	const long = 'x'.repeat(101);
	const body = {clipboardToken: long, installReferrer: long, deviceId: 'x'.repeat(7), platform: 'ios'};
	const {status, body: answer} = await open(service, network()(1), body);
	t.deepEqual([status, answer.message, answer.details.length], [400, 'Validation failed', 4]);
	t.like(answer.details, [
		{message: 'clipboardToken must be shorter than or equal to 100 characters', field: 'clipboardToken'},
		{message: 'installReferrer must be shorter than or equal to 100 characters', field: 'installReferrer'},
		{message: 'deviceId must be longer than or equal to 8 characters', field: 'deviceId'},
		{field: 'platform'},
	]);
	for (const [field, value] of [
		['deviceId', ''],
		['deviceId', long],
		...['clipboardToken', 'installReferrer', 'deviceId', 'osVersion', 'timezone'].map((name) => [name, 12_345_678]),
	] as Array<[string, unknown]>) {
		const refused = await open(service, network()(1), {[field]: value});
		t.like(refused, {status: 400, body: {details: {0: {field}}}}, field);
	}
});

test('unknown fields are ignored, null counts as left out, and 100 characters are allowed', async (t) => {
	const longest = {clipboardToken: 'x'.repeat(100), deviceId: 'x'.repeat(100)};
	const body = {...iPhoneApp, ...longest, installReferrer: null, platform: null, newerField: {of: ['a newer SDK']}};
	t.deepEqual(await match(service, network()(1), body), nothing);
});

test('signals of the device are cut at 100 characters, and nonsense is unknown', async (t) => {
	const {acme, address} = await tapped(service);
	const long = {osVersion: `unheard of ${'x'.repeat(500)}`, deviceModel: `${'x'.repeat(99)}💾`};
	t.true((await match(service, address, {...long, language: 'Klingon!', timezone: 'Mars/Olympus'})).matched);
	const [row] = await service.services.db('match_attempts').where({organization_id: acme.id});
	t.deepEqual([row.signals.osVersion.length, row.signals.deviceModel], [100, 'x'.repeat(99)]);
});

test('a body that is no JSON object is 400, and one of another type is 415', async (t) => {
	const caller = anonymous(service, network()(1));
	t.is((await caller.post('/match', [])).status, 400);
	t.is((await caller.post('/match', '{')).status, 400);
	t.is((await caller.post('/match', 'a=b', {'Content-Type': 'application/x-www-form-urlencoded'})).status, 415);
});

test('30 requests a minute are answered per address, and the next one learns when to retry', async (t) => {
	const caller = anonymous(service, network()(1));
	const answers = await Promise.all(Array.from({length: 31}, () => caller.post('/match', {})));
	const refused = answers.filter(({status}) => status === 429);
	t.like(refused, {length: 1, 0: {body: {message: 'Rate limit exceeded. Retry after 60 second(s).'}}});
	t.is((await anonymous(service, network()(1)).post('/match', {})).status, 200);
});

test('any origin may ask, and other methods and link hosts know no /match', async (t) => {
	const preflight = await anonymous(service).options('/match', {
		Origin: 'https://app.example',
		'Access-Control-Request-Method': 'POST',
		'Access-Control-Request-Headers': 'x-api-key',
	});
	t.like(preflight, {status: 204, headers: {'access-control-allow-origin': '*'}});
	t.regex(String(preflight.headers['access-control-allow-headers']), /x-api-key/i);
	t.is((await anonymous(service).get('/match')).status, 404);
});

/** A request as a script of a web page makes it. */
const fromPage = (address: string, fields: object, headers: Record<string, string> = {}) =>
	anonymous(service, address).post('/match', fields, {Origin: 'https://evil.example', ...headers});

test('a web page without a key gets no link by a guess, says guesses_off, and takes none from the app', async (t) => {
	const {acme, address, link: sale} = await tapped(service);
	const deviceId = `device-of-a-page-${acme.orgKey}`;
	const noKeys = ['', `opl_sdk_${'x'.repeat(43)}`, acme.serverKey].map((key) => ({'X-API-Key': key}));
	for (const headers of [{}, {Origin: 'null'}, ...noKeys]) {
		const {status, body, headers: answered} = await fromPage(address, device(deviceId), headers);
		t.deepEqual([status, body, answered['access-control-allow-origin']], [200, nothing, '*']);
	}

	const attempts = await service.services.db('match_attempts').where({device_id: deviceId});
	t.is(attempts.length, 5);
	t.true(attempts.every(({reason, organization_id: id}) => reason === 'guesses_off' && id === null));

	t.is((await match(service, address, iPhoneApp)).linkId, sale.id);
});

test('nor is the answer of a recent guess or token repeated to it', async (t) => {
	const acme = await organization(service);
	const [one, other] = [network()(1), network()(1)];
	const {link: sale} = await clicked(service, acme, one);
	t.is((await match(service, one, iPhoneApp)).linkId, sale.id);
	t.deepEqual((await fromPage(one, iPhoneApp)).body, nothing);
	const {token} = await clicked(service, acme, other);
	t.true((await match(service, other, {...iPhoneApp, clipboardToken: token})).matched);
	t.deepEqual((await fromPage(other, iPhoneApp)).body, nothing);
});

test('a web page with a token, or with the CLIENT key of an organization, is answered as an app is', async (t) => {
	const acme = await organization(service);
	const [one, other] = [network()(1), network()(1)];
	const {link: sale, token} = await clicked(service, acme, one);
	t.like((await fromPage(one, {clipboardToken: token})).body, {matchMethod: 'CLIPBOARD', linkId: sale.id});
	const {link: second} = await clicked(service, acme, other);
	t.is((await fromPage(other, iPhoneApp, {'X-API-Key': acme.clientKey})).body.linkId, second.id);
});
