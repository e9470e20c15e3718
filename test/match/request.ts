import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {serviceOf, startService} from '../helpers/service.ts';
import {clicked, iPhoneApp, network, nothing, open} from './_phones.ts';

const service = serviceOf(test);

test('without a click the answer is 200 with exactly two fields, whatever is sent', async (t) => {
	for (const body of [undefined, {}, iPhoneApp, {deviceId: 'device-0001', clipboardToken: 'a shopping list'}]) {
		const {status, body: answer} = await anonymous(service, network()(1)).post('/match', body);
		t.is(status, 200);
		t.deepEqual(answer, nothing);
	}
});

test('lengths and the platform are checked, with one detail per field', async (t) => {
	const {status, body} = await open(service, network()(1), {
		clipboardToken: 'x'.repeat(101),
		installReferrer: 'x'.repeat(101),
		deviceId: 'x'.repeat(7),
		platform: 'ios',
	});
	t.is(status, 400);
	t.is(body.message, 'Validation failed');
	t.deepEqual(body.details.slice(0, 3), [
		{message: 'clipboardToken must be shorter than or equal to 100 characters', field: 'clipboardToken'},
		{message: 'installReferrer must be shorter than or equal to 100 characters', field: 'installReferrer'},
		{message: 'deviceId must be longer than or equal to 8 characters', field: 'deviceId'},
	]);
	t.is(body.details[3].field, 'platform');
	t.is(body.details.length, 4);
	for (const deviceId of ['', 'x'.repeat(101)]) {
		t.is((await open(service, network()(1), {deviceId})).status, 400);
	}
});

test('nothing is coerced', async (t) => {
	for (const field of ['clipboardToken', 'installReferrer', 'deviceId', 'osVersion', 'timezone']) {
		const {status, body} = await open(service, network()(1), {[field]: 12_345_678});
		t.is(status, 400, field);
		t.is(body.details[0].field, field);
	}
});

test('unknown fields are ignored, null counts as left out, and 100 characters are allowed', async (t) => {
	const {status, body} = await open(service, network()(1), {
		...iPhoneApp,
		clipboardToken: 'x'.repeat(100),
		installReferrer: null,
		deviceId: 'x'.repeat(100),
		platform: null,
		newerField: {of: ['a newer SDK']},
	});
	t.is(status, 200);
	t.deepEqual(body, nothing);
});

test('what tells of the device is cut at 100 characters, and nonsense is unknown', async (t) => {
	const acme = await organization(service);
	const address = network()(1);
	await clicked(service, acme, address);
	const {status, body} = await open(service, address, {
		osVersion: `unheard of ${'x'.repeat(500)}`,
		deviceModel: `${'x'.repeat(99)}💾`,
		language: 'Klingon!',
		timezone: 'Mars/Olympus',
	});
	t.is(status, 200);
	t.is(body.matched, true);
	const [row] = await service.services.db('match_attempts').where({organization_id: acme.id});
	t.is(row.signals.osVersion.length, 100);
	t.is(row.signals.deviceModel.length, 100);
});

test('a body that is not a JSON object is 400, and one that is not valid JSON is 415', async (t) => {
	const caller = anonymous(service, network()(1));
	t.is((await caller.post('/match', [])).status, 400);
	t.is((await caller.post('/match', '{')).status, 400);
	t.is((await caller.post('/match', 'a=b', {'Content-Type': 'application/x-www-form-urlencoded'})).status, 415);
});

test('30 requests a minute are answered per address, and the next one is told when to come back', async (t) => {
	const own = await startService();
	t.teardown(() => own.stop());
	const caller = anonymous(own, network()(1));
	const answers = await Promise.all(Array.from({length: 31}, () => caller.post('/match', {})));
	const refused = answers.filter(({status}) => status === 429);
	t.is(refused.length, 1);
	t.is(refused[0]?.body.message, 'Rate limit exceeded. Retry after 60 second(s).');
	t.is((await anonymous(own, network()(1)).post('/match', {})).status, 200);
});

test('any origin may ask, and other methods and link hosts know no /match', async (t) => {
	const preflight = await anonymous(service).options('/match', {
		Origin: 'https://app.example',
		'Access-Control-Request-Method': 'POST',
		'Access-Control-Request-Headers': 'x-api-key',
	});
	t.is(preflight.status, 204);
	t.is(preflight.headers['access-control-allow-origin'], '*');
	t.regex(String(preflight.headers['access-control-allow-headers']), /x-api-key/i);
	t.is((await anonymous(service).get('/match')).status, 404);
});
