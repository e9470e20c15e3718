import {randomBytes} from 'node:crypto';
import test from 'ava';
import {Webhook} from 'svix';
import {verifyDelivery} from '../../../src/accounts/identity/webhook-signature.ts';
import {anonymous, type Headers} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {portalOf} from '../../helpers/portal.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {mirrored} from './_mirror.ts';

const portal = portalOf(test);

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const refused = {status: 400, message: 'Invalid webhook signature'};

const bodyFor = (organization: {id: string; name: string}): string =>
	JSON.stringify({object: 'event', type: 'organization.created', data: organization});

/** A valid delivery except for the change made by `spoil`. */
const spoilt: Record<string, (signed: Headers, body: string) => {headers?: Headers; body?: string | Buffer}> = {
	'no headers at all': () => ({headers: {}}),
	'no id': ({'svix-id': _, ...headers}) => ({headers}),
	'no timestamp': ({'svix-timestamp': _, ...headers}) => ({headers}),
	'no signature': ({'svix-signature': _, ...headers}) => ({headers}),
	'an empty id': (headers) => ({headers: {...headers, 'svix-id': ''}}),
	'another id': (headers) => ({headers: {...headers, 'svix-id': 'msg_other'}}),
	'a body with one byte more': (headers, body) => ({headers, body: `${body} `}),
	'an empty body': (headers) => ({headers, body: ''}),
	'a changed signature': (headers) => ({
		headers: {...headers, 'svix-signature': headers['svix-signature']?.replace(/.=*$/, 'A') ?? ''},
	}),
	'a signature without its version': (headers) => ({
		headers: {...headers, 'svix-signature': headers['svix-signature']?.slice(3) ?? ''},
	}),
	'a signature of another version': (headers) => ({
		headers: {...headers, 'svix-signature': headers['svix-signature']?.replace('v1', 'v1a') ?? ''},
	}),
	'an empty signature': (headers) => ({headers: {...headers, 'svix-signature': 'v1,'}}),
	'a time that is not a number': (headers) => ({headers: {...headers, 'svix-timestamp': 'now'}}),
	'a time with more after it': (headers) => ({
		headers: {...headers, 'svix-timestamp': `${headers['svix-timestamp']}abc`},
	}),
	'a time in milliseconds': (headers) => ({headers: {...headers, 'svix-timestamp': `${headers['svix-timestamp']}000`}}),
};

for (const [what, spoil] of Object.entries(spoilt)) {
	test(`a delivery with ${what} is refused with 400, and nothing is written`, async (t) => {
		const organization = {id: `org_${what.replaceAll(' ', '_')}`, name: t.title};
		const text = bodyFor(organization);
		const id = `msg_${what}`;
		const signed = {...portal.provider.sign({id, body: text})};
		const {headers = signed, body = text} = spoil(signed, text);
		const answer = await anonymous(portal).post('/webhooks/idp', body, headers);
		t.like(answer, {status: 400, body: {statusCode: 400, message: refused.message, path: '/webhooks/idp'}});
		t.is(await mirrored(portal, organization), null);
		t.deepEqual(await portal.services.db('webhook_deliveries').where({delivery_id: id}), []);
	});
}

test('a delivery with an id that no index can hold is refused with 400', async (t) => {
	const body = bodyFor({id: 'org_long_delivery', name: t.title});
	for (const [length, status] of [
		[255, 200],
		[256, 400],
		[8000, 400],
	] as const) {
		const id = randomBytes(length).toString('hex').slice(0, length);
		const answer = await anonymous(portal).post('/webhooks/idp', body, {...portal.provider.sign({id, body})});
		t.is(answer.status, status, String(length));
	}
});

test('a signed body that is not valid JSON, or too deep to be kept, is refused with 400', async (t) => {
	const deep = `{"type":"user.created","data":${'['.repeat(5000)}${']'.repeat(5000)}}`;
	for (const body of ['no json', '', '{"type":', deep]) {
		const answer = await anonymous(portal).post('/webhooks/idp', body, {
			...portal.provider.sign({id: 'msg_nojson', body}),
		});
		t.like(answer, {status: 400, body: {message: refused.message}});
	}
});

test('a signed JSON body that is not an event is accepted and ignored', async (t) => {
	for (const body of ['null', '[]', '7', '{}', '{"type":5}', '{"type":"organization.created"}']) {
		const answer = await anonymous(portal).post('/webhooks/idp', body, {
			...portal.provider.sign({id: 'msg_noevent', body}),
		});
		t.like(answer, {status: 200, body: {received: true}}, body);
	}
});

test('a delivery is accepted within 300 s of the service’s clock, and refused beyond, in both directions', async (t) => {
	for (const [seconds, status] of [
		[-301, 400],
		[-300, 200],
		[0, 200],
		[300, 200],
		[301, 400],
	] as const) {
		const body = '{"type":"session.created","data":{}}';
		const at = new Date(portal.clock.now().getTime() + seconds * 1000);
		const headers = {...portal.provider.sign({id: `msg_${seconds}`, body}, {at})};
		t.is((await anonymous(portal).post('/webhooks/idp', body, headers)).status, status, `${seconds} s`);
	}
});

test('the unbranded header names count as well, and so does any one of several signatures', async (t) => {
	const body = '{"type":"session.created","data":{}}';
	const signed = portal.provider.sign({id: 'msg_names', body});
	const headers = {
		'webhook-id': signed['svix-id'],
		'webhook-timestamp': signed['svix-timestamp'],
		'webhook-signature': `v1a,other v1,AAAA ${signed['svix-signature']}`,
	};
	t.like(await anonymous(portal).post('/webhooks/idp', body, headers), {status: 200, body: {received: true}});
});

test('the example of the facts is verified, as its own library signed it', (t) => {
	const rawBody = Buffer.from('{"object":"event","type":"organization.deleted"}');
	const headers = {
		'svix-id': 'msg_2abc',
		'svix-timestamp': '1767225600',
		'svix-signature': 'v1,uGkVpgBuKhpO7stUsSTJuSki6NX/nZzoWGZeUabmeG8=',
	};
	const now = new Date(1_767_225_600_000);
	t.deepEqual(verifyDelivery({secret: SECRET, rawBody, headers, now}), {
		id: 'msg_2abc',
		type: 'organization.deleted',
		data: undefined,
		at: null,
	});
});

test('the time of an event is in milliseconds or in seconds, whichever the provider sends', (t) => {
	const now = new Date(1_767_225_600_000);
	for (const timestamp of [1_767_225_600, 1_767_225_600_000]) {
		const body = JSON.stringify({type: 'user.created', data: {}, timestamp});
		const headers = {
			'svix-id': 'msg_time',
			'svix-timestamp': '1767225600',
			'svix-signature': new Webhook(SECRET).sign('msg_time', now, body),
		};
		t.deepEqual(verifyDelivery({secret: SECRET, rawBody: Buffer.from(body), headers, now}).at, now);
	}
});

const badSecrets: Record<string, string | null> = {
	'none at all': null,
	'an empty one': '',
	'the prefix alone': 'whsec_',
	'no prefix': SECRET.slice(6),
	'a prefix of another kind': SECRET.replace('whsec_', 'sk_'),
	'15 bytes': `whsec_${Buffer.alloc(15, 7).toString('base64')}`,
	'base64 for URLs': `whsec_${Buffer.alloc(24, 255).toString('base64').replaceAll('/', '_')}`,
	'a length that no base64 has': `${SECRET}A`,
	'other characters': `${SECRET}!!!!`,
};

for (const [what, secret] of Object.entries(badSecrets)) {
	test(`with a secret of ${what} every delivery is refused with 400, also one that is signed with it`, (t) => {
		const rawBody = Buffer.from('{"type":"organization.deleted","data":{"id":"org_1"}}');
		const now = new Date(1_767_225_600_000);
		const signatures = [SECRET, secret, `whsec_${secret}`].flatMap((one) => {
			try {
				return [new Webhook(one ?? '').sign('msg_1', now, rawBody.toString())];
			} catch {
				return [];
			}
		});
		// Signed with an empty key, which the library would derive from the prefix alone.
		const forged = new Webhook('whsec_').sign('msg_1', now, rawBody.toString());
		const headers = {
			'svix-id': 'msg_1',
			'svix-timestamp': '1767225600',
			'svix-signature': [...signatures, forged].join(' '),
		};
		const error = t.throws(() => verifyDelivery({secret, rawBody, headers, now}));
		t.like(error, refused);
	});
}

test('a service with a malformed secret warns of it and refuses deliveries with 400', async (t) => {
	const service = await startService({IDP_WEBHOOK_SECRET: 'whsec_'});
	t.teardown(() => service.stop());
	t.true(service.services.config.warnings.some((warning) => warning.includes('IDP_WEBHOOK_SECRET')));
	const body = '{"type":"session.created"}';
	const id = 'msg_1';
	const at = service.clock.now();
	const answer = await anonymous(service).post('/webhooks/idp', body, {
		'svix-id': id,
		'svix-timestamp': String(at.getTime() / 1000),
		'svix-signature': new Webhook('whsec_').sign(id, at, body),
	});
	t.like(answer, {status: 400, body: {message: refused.message}});
});

test('without the database a bad signature is 400 and a good one 503, to be delivered again', async (t) => {
	const database = await createTestDatabase();
	const {line, url} = await openDatabaseLine(database.url);
	const clock = createFakeClock();
	const service = await startService({...portal.provider.env}, clock, {url, drop: async () => {}});
	t.teardown(async () => {
		await line.close();
		await service.stop();
		await database.drop();
	});
	await line.cut();
	const {body, id} = portal.provider.event('organization.deleted', {id: 'org_1', deleted: true});
	const headers = {...portal.provider.sign({id, body}, {at: clock.now()})};
	t.is((await anonymous(service).post('/webhooks/idp', body, headers)).status, 503);
	t.is((await anonymous(service).post('/webhooks/idp', `${body} `, headers)).status, 400);
});
