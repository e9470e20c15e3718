import {once} from 'node:events';
import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {withKey} from '../helpers/callers.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../helpers/process.ts';
import {serviceOf, startService, type TestService} from '../helpers/service.ts';

const service = serviceOf(test);
test.serial.before(async () => {
	// Makes the batch's statement fail, and the single one too.
	await service.services.db.raw(
		`ALTER TABLE events ADD CONSTRAINT events_refused_check CHECK (event_name <> 'refused')`,
	);
});

const withDevice = async (on = service) => {
	const acme = await organization(on);
	await acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	const send = (body: object) => acme.client.post('/sdk/events', {deviceId: 'device-0001', ...body});
	const stored = async (): Promise<string[]> =>
		(await on.services.db('events').where({organization_id: acme.id}).orderBy('event_name')).map(
			(row) => row.event_name,
		);
	return {acme, send, stored};
};

const names = (count: number): string[] => Array.from({length: count}, (_, n) => `event ${String(n).padStart(3, '0')}`);

test('events that arrive at once are each stored once', async (t) => {
	const {send, stored} = await withDevice();
	const sent = names(250);
	const answers = await Promise.all(sent.map((eventName) => send({eventName})));
	t.true(answers.every(({status, body}) => status === 200 && body.accepted));
	t.deepEqual(await stored(), sent);
});

test('a refused event does not affect concurrent ones', async (t) => {
	const {acme, send, stored} = await withDevice();
	const sent = names(30);
	const [unknownDevice, unknownLink, refused, ...others] = await Promise.all([
		acme.client.post('/sdk/events', {deviceId: 'device-9999', eventName: 'lost'}),
		send({eventName: 'lost', linkId: '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11'}),
		send({eventName: 'refused'}),
		...sent.map((eventName) => send({eventName})),
	]);
	t.is(unknownDevice.status, 404);
	t.true(unknownDevice.body.message.includes('/sdk/session'));
	t.is(unknownLink.status, 404);
	t.is(unknownLink.body.message, 'Link not found');
	t.is(refused.status, 500);
	t.true(others.every(({status}) => status === 200));
	t.deepEqual(await stored(), sent);
});

test('an event that was answered is there after kill -9', async (t) => {
	const database = await createTestDatabase();
	const on = await startService({}, undefined, database);
	t.teardown(() => on.stop());
	const {acme, stored} = await withDevice(on);
	const {child, printed} = oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: 'a-token-of-32-characters-or-more',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: database.url,
		TRUSTED_PROXIES: '127.0.0.0/8',
	});
	const [, url = ''] = await printed(ready);
	const client = withKey({url} as TestService, acme.clientKey);
	const answered: string[] = [];
	const sending = names(200).map(async (eventName) => {
		const {status} = await client.post('/sdk/events', {deviceId: 'device-0001', eventName});
		if (status === 200) {
			answered.push(eventName);
			// While others are on their way.
			child.kill('SIGKILL');
		}
	});
	await Promise.allSettled([...sending, once(child, 'close')]);
	t.true(answered.length > 0);
	const kept = new Set(await stored());
	t.deepEqual(
		answered.filter((name) => !kept.has(name)),
		[],
	);
});
