import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const deviceOf = async (organizationId: string, deviceId: string) => {
	const [row] = await service.services.db('devices').where({organization_id: organizationId, device_id: deviceId});
	return row;
};

test('a session registers its device once per organization and stores its properties', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	const described = {platform: 'iOS', language: 'en-US', timezone: 'Europe/Berlin'};
	const versions = {osVersion: '17.5.1', deviceModel: 'iPhone15,2', appVersion: '2.0', sdkVersion: '1.4.0'};
	const device = {deviceId: 'device-0001', ...described, ...versions};
	const first = await acme.client.post('/sdk/session', device);
	t.is(first.status, 200);
	t.deepEqual({...first.body, sessionId: ''}, {deviceId: 'device-0001', sessionId: '', isNewDevice: true});
	t.regex(first.body.sessionId, UUID);
	const second = await acme.client.post('/sdk/session', {deviceId: 'device-0001', appVersion: '2.1'});
	t.false(second.body.isNewDevice);
	t.not(second.body.sessionId, first.body.sessionId);
	t.true((await globex.client.post('/sdk/session', device)).body.isNewDevice);
	t.like(await deviceOf(acme.id, 'device-0001'), {
		...described,
		os_version: '17.5.1',
		device_model: 'iPhone15,2',
		app_version: '2.1',
		sdk_version: '1.4.0',
		session_id: second.body.sessionId,
	});
});

test('properties of a device are cut at whole characters, and a platform has one spelling', async (t) => {
	const {id, client} = await organization(service);
	const long = `a${'😀'.repeat(60)}`;
	const named = [' ios ', 'iOS', 'IOS', 'android', 'Android', 'ANDROID', 'Web', '', ' ', undefined, null];
	for (const [index, platform] of named.entries()) {
		const deviceId = `device-000${index}`;
		const device = {deviceId, platform, osVersion: long, deviceModel: long, appVersion: long, language: long};
		t.is((await client.post('/sdk/session', device)).status, 200);
	}

	const {body} = await admin(service).get(`/admin/organizations/${id}/devices?limit=20`);
	const {data} = body as {data: Array<Record<string, unknown>>};
	const [ios, android] = ['iOS', 'Android'];
	const byId = data.toSorted((a, b) => Number(String(a['deviceId']).slice(7)) - Number(String(b['deviceId']).slice(7)));
	const platforms = byId.map(({platform}) => platform);
	t.deepEqual(platforms, [ios, ios, ios, android, android, android, 'Web', null, null, null, null]);
	for (const device of data) {
		t.is(device['osVersion'], `a${'😀'.repeat(49)}`);
	}
});

test('a deviceId has 8 to 100 characters; unknown fields are ignored', async (t) => {
	const {client} = await organization(service);
	for (const [body, message] of [
		[{}, 'deviceId is required'],
		[{deviceId: ''}, 'deviceId must be longer than or equal to 8 characters'],
		[{deviceId: 'x'.repeat(7)}, 'deviceId must be longer than or equal to 8 characters'],
		[{deviceId: 'x'.repeat(101)}, 'deviceId must be shorter than or equal to 100 characters'],
		[{deviceId: 12_345_678}, 'deviceId must be a string'],
	] as const) {
		const {status, body: answer} = await client.post('/sdk/session', body);
		t.deepEqual([status, answer.message], [400, 'Validation failed']);
		t.deepEqual(answer.details, [{message, field: 'deviceId'}]);
	}

	const newer = {deviceId: 'x'.repeat(100), pushToken: 'from a newer SDK', osVersion: 'y'.repeat(300), timezone: null};
	t.is((await client.post('/sdk/session', newer)).status, 200);
});

test('an identity is set, replaced and cleared', async (t) => {
	const {id, client} = await organization(service);
	const deviceId = 'device-of-a-user';
	await client.post('/sdk/session', {deviceId});
	const set = await client.post('/sdk/identity', {deviceId, externalUserId: 'u1', traits: {tier: 'gold', tags: ['a']}});
	t.is(set.status, 200);
	t.deepEqual(set.body, {deviceId, externalUserId: 'u1'});
	t.like(await deviceOf(id, deviceId), {external_user_id: 'u1', traits: {tier: 'gold', tags: ['a']}});
	await client.post('/sdk/identity', {deviceId, externalUserId: 'u2'});
	t.like(await deviceOf(id, deviceId), {external_user_id: 'u2', traits: null});
	const cleared = await client.post('/sdk/identity/clear', {deviceId});
	t.is(cleared.status, 200);
	t.deepEqual(cleared.body, {deviceId, externalUserId: null});
	t.like(await deviceOf(id, deviceId), {external_user_id: null, traits: null});
});

test('an identity has 1 to 255 characters, and traits at most 4096 bytes', async (t) => {
	const {client} = await organization(service);
	const deviceId = 'device-of-limits';
	await client.post('/sdk/session', {deviceId});
	const traits = (bytes: number) => ({note: 'x'.repeat(bytes - '{"note":""}'.length)});
	for (const [body, field] of [
		[{}, 'externalUserId'],
		[{externalUserId: ''}, 'externalUserId'],
		[{externalUserId: 'x'.repeat(256)}, 'externalUserId'],
		[{externalUserId: 'u', traits: traits(4097)}, 'traits'],
		[{externalUserId: 'u', traits: 'gold'}, 'traits'],
	] as const) {
		const {status, body: answer} = await client.post('/sdk/identity', {deviceId, ...body});
		t.deepEqual([status, answer.details[0].field], [400, field]);
	}

	const widest = {deviceId, externalUserId: 'x'.repeat(255), traits: traits(4096)};
	t.is((await client.post('/sdk/identity', widest)).status, 200);
});

test('an unknown device is 404 with a hint to begin a session', async (t) => {
	const [acme, globex] = [await organization(service), await organization(service)];
	await globex.client.post('/sdk/session', {deviceId: 'device-elsewhere'});
	for (const [path, body] of [
		['/sdk/identity', {externalUserId: 'u1'}],
		['/sdk/identity/clear', {}],
		['/sdk/events', {eventName: 'purchase'}],
	] as const) {
		const answer = await acme.client.post(path, {deviceId: 'device-elsewhere', ...body});
		const message = 'Unknown deviceId device-elsewhere. Call /sdk/session first.';
		t.like(answer, {status: 404, body: {message}});
	}
});

test('the SDK routes take the CLIENT key only', async (t) => {
	const {server} = await organization(service);
	for (const path of ['/sdk/session', '/sdk/identity', '/sdk/identity/clear', '/sdk/events', '/sdk/links']) {
		const wrong = await server.post(path, {deviceId: 'device-0001'});
		t.is(wrong.status, 403);
		t.is(wrong.body.message, "API key tier 'SERVER' is not permitted on this endpoint (requires 'CLIENT')");
		t.is((await anonymous(service).post(path, {})).status, 401);
		const preflight = await anonymous(service).options(path, {Origin: 'https://app.example'});
		t.is(preflight.headers['access-control-allow-origin'], '*');
	}
});

test('sessions and identities share 60 requests a minute per key, and events have 600 of their own', async (t) => {
	const {client} = await organization(service);
	const deviceId = 'device-in-a-hurry';
	const paths = ['/sdk/session', '/sdk/identity', '/sdk/identity/clear'];
	const answers = await Promise.all(
		Array.from({length: 61}, (_, index) => client.post(paths[index % 3] ?? '', {deviceId, externalUserId: 'u'})),
	);
	t.is(answers.filter(({status}) => status === 429).length, 1);
	t.is((await client.post('/sdk/events', {deviceId, eventName: 'open'})).status, 200);
});
