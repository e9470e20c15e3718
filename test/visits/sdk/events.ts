import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {withKey} from '../../helpers/callers.ts';
import {untilAwaited} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {serviceOf, type TestService} from '../../helpers/service.ts';
import {clicked, network, open} from '../matches/_phones.ts';

const service = serviceOf(test);
test.serial.before(async () => {
	// Makes the batch's statement fail, and the single one too.
	await service.services.db.raw(
		`ALTER TABLE events ADD CONSTRAINT events_refused_check CHECK (event_name <> 'refused')`,
	);
});

const withDevice = async (deviceId = 'device-0001') => {
	const acme = await organization(service);
	await acme.client.post('/sdk/session', {deviceId});
	const eventsOf = () => service.services.db('events').where({organization_id: acme.id}).orderBy('occurred_at');
	return {
		acme,
		send: (body: object) => acme.client.post('/sdk/events', {deviceId, eventName: 'purchase', ...body}),
		events: eventsOf,
		stored: async (): Promise<string[]> => (await eventsOf()).map(({event_name}) => event_name).toSorted(),
	};
};

test('an event is stored as it was sent', async (t) => {
	const {send, events} = await withDevice();
	const properties = {amount: 12.5, currency: 'EUR', items: [{sku: 'a', tags: {deep: true}}], none: null};
	const {status, body} = await send({properties, occurredAt: '2026-03-09T23:00:00+02:00', eventId: 'e-1'});
	t.deepEqual([status, body], [200, {accepted: true}]);
	const [event, ...others] = await events();
	t.is(others.length, 0);
	t.like(event, {device_id: 'device-0001', event_name: 'purchase', event_id: 'e-1', link_id: null});
	t.like(event, {occurred_at: new Date('2026-03-09T21:00:00Z'), received_at: service.clock.now()});
	t.deepEqual(event.properties, properties);
});

test('an event without properties and time happens now', async (t) => {
	const {send, events} = await withDevice();
	t.is((await send({})).status, 200);
	const [event] = await events();
	t.deepEqual([event.properties, event.occurred_at], [{}, service.clock.now()]);
});

test('an event whose device is erased and registered again meanwhile is stored', async (t) => {
	const {db} = service.services;
	const {acme, send, events} = await withDevice();
	const erasure = await db.transaction();
	const [{id: _, ...device}] = await erasure('devices').where({organization_id: acme.id}).delete().returning('*');
	const answer = send({});
	await untilAwaited(erasure);
	await erasure('devices').insert({...device, id: randomUUID()});
	await erasure.commit();
	t.like(await answer, {status: 200, body: {accepted: true}});
	t.is((await events()).length, 1);
});

test('an event with a known eventId is counted once, sent in turn or at once; another organization may use the id', async (t) => {
	const {acme, send, events} = await withDevice();
	const other = await withDevice();
	const answers = [
		await send({eventId: 'same'}),
		await send({eventId: 'same'}),
		...(await Promise.all(Array.from({length: 10}, () => send({eventId: 'burst'})))),
		await other.send({eventId: 'same'}),
	];
	t.true(answers.every(({status, body}) => status === 200 && body.accepted));
	t.deepEqual((await events()).map(({event_id}) => event_id).toSorted(), ['burst', 'same']);
	t.is((await other.events()).length, 1);
	await send({});
	await send({});
	t.is((await events()).length, 4);
	const {body} = await acme.operator.get('/stats');
	t.is(body.totals.events, 4);
});

test('properties hold 10240 bytes as JSON, counted in bytes', async (t) => {
	const {send} = await withDevice();
	const wrapper = '{"note":""}'.length;
	const note = (text: string) => ({properties: {note: text}});
	t.is((await send(note('x'.repeat(10_240 - wrapper)))).status, 200);
	for (const text of ['x'.repeat(10_241 - wrapper), 'é'.repeat(5120)]) {
		const {status, body} = await send(note(text));
		t.is(status, 400);
		t.like(body, {message: 'Validation failed', details: [{field: 'properties'}]});
	}
});

test('each bad field is named', async (t) => {
	const {send} = await withDevice();
	for (const [body, field] of [
		[{eventName: ''}, 'eventName'],
		[{eventName: 'x'.repeat(101)}, 'eventName'],
		[{eventName: undefined}, 'eventName'],
		[{properties: []}, 'properties'],
		[{properties: 'text'}, 'properties'],
		[{eventId: 'x'.repeat(101)}, 'eventId'],
		[{occurredAt: 'yesterday'}, 'occurredAt'],
		[{linkId: 'sale'}, 'linkId'],
	] as const) {
		const {status, body: answer} = await send(body);
		const fields = answer.details?.map((detail: {field: string}) => detail.field);
		t.deepEqual([status, fields], [400, [field]], JSON.stringify(body));
	}
});

test.serial('an event of a matched device belongs to the link of its last match', async (t) => {
	const {acme, send, events} = await withDevice('device-matched');
	await send({eventName: 'before'});
	const matched: string[] = [];
	for (const name of ['first', 'second']) {
		service.clock.advance(1);
		const {link: sale, token} = await clicked(service, acme, network()(1));
		await open(service, network()(1), {clipboardToken: token, deviceId: 'device-matched'});
		await send({eventName: name});
		matched.push(sale.id);
	}

	const chosen = await link(acme);
	service.clock.advance(1);
	await send({eventName: 'chosen', linkId: chosen.id});
	const linksOf = Object.fromEntries((await events()).map((event) => [event.event_name, event.link_id]));
	t.deepEqual(linksOf, {before: null, first: matched[0], second: matched[1], chosen: chosen.id});
});

test('a link of another organization, and one that does not exist, is 404 and stores nothing', async (t) => {
	const {send, events} = await withDevice();
	const foreign = await link(await organization(service));
	for (const linkId of [foreign.id, '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11']) {
		t.like(await send({linkId}), {status: 404, body: {message: 'Link not found'}});
	}

	t.deepEqual(await events(), []);
});

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
	t.deepEqual([unknownDevice.status, unknownLink.status, refused.status], [404, 404, 500]);
	t.true(unknownDevice.body.message.includes('/sdk/session'));
	t.is(unknownLink.body.message, 'Link not found');
	t.true(others.every(({status}) => status === 200));
	t.deepEqual(await stored(), sent);
});

test('an event that was answered is there after kill -9', async (t) => {
	const {acme, stored} = await withDevice();
	const {child, printed} = oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: 'a-token-of-32-characters-or-more',
		DATA_DIR: await dataDirectory(t),
		DATABASE_URL: service.databaseUrl,
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
	t.true(answered.every((name) => kept.has(name)));
});
