import test from 'ava';
import {Webhook} from 'svix';
import {verifyProviderEvent} from '../../../src/accounts/identity/verify-provider-event.ts';
import {anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {portalOf} from '../../helpers/portal.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';
import {mirrored} from './_mirror.ts';

const portal = portalOf(test);

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const NOW = new Date(1_767_225_600_000);
const BODY = '{"type":"organization.deleted","data":{"id":"org_1"}}';
const refused = {status: 400, message: 'Invalid webhook signature'};

const signatureOf = (body: string, {secret = SECRET, id = 'msg_1', at = NOW} = {}): string =>
	new Webhook(secret).sign(id, at, body);

const verify = (body: string, headers: Record<string, string | undefined> = {}, secret: string | null = SECRET) =>
	verifyProviderEvent({
		secret,
		rawBody: Buffer.from(body),
		headers: {
			'svix-id': 'msg_1',
			'svix-timestamp': String(NOW.getTime() / 1000),
			'svix-signature': signatureOf(body),
			...headers,
		},
		now: NOW,
	});

test('the example of the facts is verified, as its own library signed it', (t) => {
	const headers = {'svix-id': 'msg_2abc', 'svix-signature': 'v1,uGkVpgBuKhpO7stUsSTJuSki6NX/nZzoWGZeUabmeG8='};
	const {data, text: _, ...verified} = verify('{"object":"event","type":"organization.deleted"}', headers);
	t.is(data, undefined);
	t.deepEqual(verified, {id: 'msg_2abc', type: 'organization.deleted', at: null});
});

const SIGNED = signatureOf(BODY);
const spoilt: Array<[what: string, headers: Record<string, string | undefined>, body?: string]> = [
	['no headers at all', {'svix-id': undefined, 'svix-timestamp': undefined, 'svix-signature': undefined}],
	['no id', {'svix-id': undefined}],
	['no timestamp', {'svix-timestamp': undefined}],
	['no signature', {'svix-signature': undefined}],
	['an empty id', {'svix-id': ''}],
	['another id', {'svix-id': 'msg_other'}],
	['a body with one byte more', {'svix-signature': SIGNED}, `${BODY} `],
	['an empty body', {'svix-signature': SIGNED}, ''],
	['a changed signature', {'svix-signature': SIGNED.replace(/.=*$/, 'A')}],
	['a signature without its version', {'svix-signature': SIGNED.slice(3)}],
	['a signature of another version', {'svix-signature': SIGNED.replace('v1', 'v1a')}],
	['an empty signature', {'svix-signature': 'v1,'}],
	['a time that is not a number', {'svix-timestamp': 'now'}],
	['a time with more after it', {'svix-timestamp': '1767225600abc'}],
	['a time in milliseconds', {'svix-timestamp': '1767225600000'}],
	['a signed body that is not JSON', {}, 'no json'],
	['a signed body that is empty', {}, ''],
	['a signed body that ends too early', {}, '{"type":'],
	['a signed body too deep to be kept', {}, `{"type":"user.created","data":${'['.repeat(5000)}${']'.repeat(5000)}}`],
];

for (const [what, headers, body = BODY] of spoilt) {
	test(`a delivery with ${what} is refused`, (t) => {
		const found = t.throws(() => verify(body, headers));
		t.like(found, refused);
	});
}

test('a delivery with an id that no index can hold is refused', (t) => {
	const signedWith = (id: string) => verify(BODY, {'svix-id': id, 'svix-signature': signatureOf(BODY, {id})});
	t.notThrows(() => signedWith('x'.repeat(255)));
	for (const length of [256, 8000]) {
		t.throws(() => signedWith('x'.repeat(length)), undefined, String(length));
	}
});

test('a delivery is accepted within 300 s of the service’s clock, and refused beyond, in both directions', (t) => {
	const signedAt = (seconds: number) => {
		const at = new Date(NOW.getTime() + seconds * 1000);
		return verify(BODY, {'svix-timestamp': String(at.getTime() / 1000), 'svix-signature': signatureOf(BODY, {at})});
	};
	for (const seconds of [-300, 0, 300]) {
		t.notThrows(() => signedAt(seconds), `${seconds} s`);
	}

	for (const seconds of [-301, 301]) {
		t.throws(() => signedAt(seconds), undefined, `${seconds} s`);
	}
});

test('the unbranded header names count as well, and so does any one of several signatures', (t) => {
	const unbranded = {
		'svix-id': undefined,
		'svix-timestamp': undefined,
		'svix-signature': undefined,
		'webhook-id': 'msg_1',
		'webhook-timestamp': '1767225600',
		'webhook-signature': `v1a,other v1,AAAA ${SIGNED}`,
	};
	t.is(verify(BODY, unbranded).id, 'msg_1');
});

test('the time of an event is in milliseconds or in seconds, whichever the provider sends', (t) => {
	for (const timestamp of [1_767_225_600, 1_767_225_600_000]) {
		t.deepEqual(verify(JSON.stringify({type: 'user.created', data: {}, timestamp})).at, NOW);
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
	test(`with a secret of ${what} every delivery is refused, also one that is signed with it`, (t) => {
		const signatures = [SECRET, secret, `whsec_${secret}`].flatMap((one) => {
			try {
				return [signatureOf(BODY, {secret: one ?? ''})];
			} catch {
				return [];
			}
		});
		// Signed with an empty key, which the library would derive from the prefix alone.
		signatures.push(signatureOf(BODY, {secret: 'whsec_'}));
		const found = t.throws(() => verify(BODY, {'svix-signature': signatures.join(' ')}, secret));
		t.like(found, refused);
	});
}

test('a forged delivery is refused with 400, and nothing is written', async (t) => {
	const organization = {id: 'org_forged', name: 'Forged'};
	const body = JSON.stringify({object: 'event', type: 'organization.created', data: organization});
	const headers = {...portal.provider.sign({id: 'msg_forged', body})};
	const answer = await anonymous(portal).post('/webhooks/idp', `${body} `, headers);
	t.like(answer, {status: 400, body: {statusCode: 400, message: refused.message, path: '/webhooks/idp'}});
	t.is(await mirrored(portal, organization), null);
	const {db} = portal.services;
	t.deepEqual(await db('webhook_deliveries').where({delivery_id: 'msg_forged'}), []);
	t.deepEqual(await db('identity_events').where({event_key: 'msg_forged'}), []);
});

test('a signed JSON body that is not an event is accepted and ignored, also with the longest id', async (t) => {
	for (const [index, body] of ['null', '[]', '7', '{}', '{"type":5}', '{"type":"organization.created"}'].entries()) {
		const id = String(index).repeat(255);
		const answer = await anonymous(portal).post('/webhooks/idp', body, {...portal.provider.sign({id, body})});
		t.like(answer, {status: 200, body: {received: true}}, body);
	}
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
