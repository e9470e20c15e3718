import {randomUUID} from 'node:crypto';
import test from 'ava';
import {applyRetention} from '../../../src/operations/jobs/retention.ts';
import {allowances} from '../../../src/platform/config/limits.ts';
import {retention, storageLimits} from '../../../src/platform/config/policies.ts';
import {rollUp} from '../../../src/visits/reports/rollups/roll-up.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {anonymous, type Caller} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const DAY = 24 * 3600;
const {eventDays, deviceDays} = retention();

const service = serviceOf(test, {LINK_DOMAIN: 'localhost'});

/** Applies the retention of these rows. @returns how many are deleted. */
const forget = async (rows: 'devices' | 'events'): Promise<number> => {
	const counts = await applyRetention(service.services.db, service.clock.now(), `forget_${rows}`);
	return counts.reduce((sum, count) => sum + count, 0);
};

/** An organization, and no event or device of a test before: those that move the clock run one after another. */
const start = async () => {
	const {clock} = service;
	const {background, db} = service.services;
	// The jobs of the start have the lock of the rollups for a moment.
	await background.settle();
	await db('events').delete();
	await db('devices').delete();
	const acme = await organization(service);
	const begin = (deviceId: string) => acme.client.post('/sdk/session', {deviceId});
	const track = (deviceId: string, more: object = {}) =>
		acme.client.post('/sdk/events', {deviceId, eventName: 'open', ...more});
	const report = async (filter = '') => {
		const query = `from=2026-03-01&to=2027-06-01&interval=month${filter}`;
		return (await acme.operator.get(`/stats?${query}`)).body;
	};
	const eventsLeft = (): Promise<string[]> =>
		db('events').where({organization_id: acme.id}).orderBy('occurred_at').pluck('event_id');
	return {clock, db, acme, begin, track, report, eventsLeft};
};

test.serial('an old event is deleted once counted, and reports stay, also in another cluster', async (t) => {
	const {clock, db, acme, begin, track, report, eventsLeft} = await start();
	const sale = await link(acme, {tags: ['spring']});
	await begin('device-0001');
	await track('device-0001', {eventId: 'old', occurredAt: '2026-03-09T10:00:00Z', linkId: sale.id});
	clock.advance(eventDays * DAY);
	await track('device-0001', {eventId: 'new'});
	t.is(await forget('events'), 0, 'not counted yet');
	await rollUp(db);
	const before = await report();
	t.is(before.totals.events, 2);
	const ofLinks = await report('&tag=spring');
	t.is(ofLinks.totals.events, 1);
	t.is(await forget('events'), 1);
	t.deepEqual(await report('&tag=spring'), ofLinks);
	t.deepEqual(await eventsLeft(), ['new']);
	t.deepEqual(await report(), before);
	await db.raw('UPDATE rollups SET cluster = cluster + 1');
	t.is(await forget('events'), 0);
	await rollUp(db);
	t.deepEqual(await report(), before);
	t.deepEqual(await eventsLeft(), ['new']);
});

test.serial('events of many are deleted in one run', async (t) => {
	const {clock, db, acme, begin, track, eventsLeft} = await start();
	await begin('device-0001');
	await track('device-0001');
	await db.raw(
		`INSERT INTO events (id, organization_id, device_id, event_name, properties, occurred_at, received_at)
		SELECT gen_random_uuid(), organization_id, device_id, event_name, properties, occurred_at, received_at
		FROM events, generate_series(1, 2500) AS n WHERE organization_id = ?`,
		[acme.id],
	);
	await rollUp(db);
	clock.advance((eventDays + 1) * DAY);
	t.is(await forget('events'), 2501);
	t.deepEqual(await eventsLeft(), []);
});

test.serial('an event older than the retention, or in the future, gets the current time', async (t) => {
	const {clock, db, acme, begin, track} = await start();
	await begin('device-0001');
	const now = clock.now();
	const at = (days: number, ms = 0) => new Date(now.getTime() + days * DAY * 1000 + ms);
	const said = [at(-eventDays), at(1, 1), new Date('1970-01-01'), new Date('9999-01-01'), at(-eventDays, 1), at(1)];
	for (const [index, occurredAt] of said.entries()) {
		t.is((await track('device-0001', {eventId: `${index}`, occurredAt})).status, 200);
	}

	const stored = await db('events').where({organization_id: acme.id}).orderBy('event_id').pluck('occurred_at');
	t.deepEqual(stored, [now, now, now, now, at(-eventDays, 1), at(1)]);
});

test.serial('a device that was not seen for long is forgotten, unless it has an event', async (t) => {
	const {clock, acme, begin, track} = await start();
	for (const name of ['device-gone', 'device-back', 'device-busy']) {
		await begin(name);
	}

	clock.advance(deviceDays * DAY - 1);
	t.is(await forget('devices'), 0);
	await begin('device-back');
	await track('device-busy');
	clock.advance(1);
	t.is(await forget('devices'), 1);
	t.deepEqual(await devicesOf(acme), ['device-back', 'device-busy']);
});

const {visitDevicesPerOrganizationAndDay, visitDeviceDays} = storageLimits();

const visitor = async (acme: TestOrganization) => {
	const {shortCode} = await link(acme);
	return (caller: Caller, deviceId: string) => caller.get(`/${acme.orgKey}/${shortCode}/data?deviceId=${deviceId}`);
};
const devicesOf = ({id}: {id: string}): Promise<string[]> =>
	service.services.db('devices').where({organization_id: id}).orderBy('device_id').pluck('device_id');

test('one address can register a limited number of visit devices a day, and its visits are still answered', async (t) => {
	const acme = await organization(service);
	const visit = await visitor(acme);
	const caller = anonymous(service);
	const ids = Array.from({length: allowances.visitDevices.max + 5}, (_, index) => `device-${1000 + index}`);
	const statuses = await Promise.all(ids.map(async (id) => (await visit(caller, id)).status));
	t.deepEqual([...new Set(statuses)], [200]);
	const known = await devicesOf(acme);
	t.is(known.length, allowances.visitDevices.max);
	// One that is known counts for nothing, another address has its own, and a key proves a device.
	t.is((await visit(caller, known[0] ?? '')).status, 200);
	t.is((await visit(anonymous(service), 'device-elsewhere')).status, 200);
	t.true((await acme.client.post('/sdk/session', {deviceId: 'device-proven'})).body.isNewDevice);
	t.is((await devicesOf(acme)).length, allowances.visitDevices.max + 2);
});

test('an organization has a limited number of visit devices a day, also for concurrent visits', async (t) => {
	const acme = await organization(service);
	const visit = await visitor(acme);
	const {db} = service.services;
	const day = service.clock.now().toISOString().slice(0, 10);
	const left = 3;
	const count = visitDevicesPerOrganizationAndDay - left;
	await db('visit_devices').insert({organization_id: acme.id, day, count});
	await Promise.all(Array.from({length: 8}, (_, index) => visit(anonymous(service), `device-${1000 + index}`)));
	t.is((await devicesOf(acme)).length, left);
	await db('visit_devices').where({organization_id: acme.id}).update({day: '2026-03-01'});
	await visit(anonymous(service), 'device-next-day');
	t.is((await devicesOf(acme)).length, left + 1);
});

test.serial('a device known only from visits is deleted, any other stays', async (t) => {
	const {clock, acme, begin, track} = await start();
	const visit = await visitor(acme);
	const kinds = ['visited', 'in-session', 'identified', 'with-event', 'came-back', 'missed'];
	const names = kinds.map((kind) => `device-${kind}`);
	for (const name of names) {
		t.is((await visit(anonymous(service), name)).status, 200);
	}

	await begin('device-in-session');
	await acme.client.post('/sdk/identity', {deviceId: 'device-identified', externalUserId: randomUUID()});
	await track('device-with-event');
	await acme.client.post('/match', {deviceId: 'device-missed'}, {'X-API-Key': acme.clientKey});
	clock.advance(visitDeviceDays * DAY);
	await visit(anonymous(service), 'device-came-back');
	t.is(await forget('devices'), 1);
	t.deepEqual(await devicesOf(acme), names.slice(1).toSorted());
});
