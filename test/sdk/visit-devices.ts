import {randomUUID} from 'node:crypto';
import test from 'ava';
import {storageLimits} from '../../src/config/policies.ts';
import {forgetDevices} from '../../src/devices/forget-devices.ts';
import {allowances} from '../../src/limits/limits.ts';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {anonymous, type Caller} from '../helpers/callers.ts';
import {createFakeClock, serviceOf, startService, type TestService} from '../helpers/service.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'localhost'});

const {visitDevicesPerOrganizationAndDay, visitDeviceDays} = storageLimits();
const DAY = 24 * 3600;

const visitor = async (acme: TestOrganization) => {
	const {shortCode} = await link(acme);
	return (caller: Caller, deviceId: string) => caller.get(`/${acme.orgKey}/${shortCode}/data?deviceId=${deviceId}`);
};
const devicesOf = async (of: TestService, {id}: {id: string}): Promise<string[]> =>
	(await of.services.db('devices').where({organization_id: id}).orderBy('device_id')).map(({device_id}) => device_id);

test('a device that a visit names can send events at once', async (t) => {
	const acme = await organization(service);
	const visit = await visitor(acme);
	t.is((await visit(anonymous(service), 'device-0001')).status, 200);
	t.is((await acme.client.post('/sdk/events', {deviceId: 'device-0001', eventName: 'open'})).status, 200);
});

test('one address can register a limited number of visit devices a day, and its visits are still answered', async (t) => {
	const acme = await organization(service);
	const visit = await visitor(acme);
	const caller = anonymous(service);
	const ids = Array.from({length: allowances.visitDevices.max + 5}, (_, index) => `device-${1000 + index}`);
	const statuses = await Promise.all(ids.map(async (id) => (await visit(caller, id)).status));
	t.deepEqual([...new Set(statuses)], [200]);
	const known = await devicesOf(service, acme);
	t.is(known.length, allowances.visitDevices.max);
	// One that is known counts for nothing, another address has its own, and a key proves a device.
	t.is((await visit(caller, known[0] ?? '')).status, 200);
	t.is((await visit(anonymous(service), 'device-elsewhere')).status, 200);
	t.true((await acme.client.post('/sdk/session', {deviceId: 'device-proven'})).body.isNewDevice);
	t.is((await devicesOf(service, acme)).length, allowances.visitDevices.max + 2);
});

test('an organization has a limited number of visit devices a day, also for concurrent visits', async (t) => {
	const acme = await organization(service);
	const visit = await visitor(acme);
	const day = service.clock.now().toISOString().slice(0, 10);
	const left = 3;
	await service.services.db('visit_devices').insert({
		organization_id: acme.id,
		day,
		count: visitDevicesPerOrganizationAndDay - left,
	});
	await Promise.all(Array.from({length: 8}, (_, index) => visit(anonymous(service), `device-${1000 + index}`)));
	t.is((await devicesOf(service, acme)).length, left);
	await service.services.db('visit_devices').where({organization_id: acme.id}).update({day: '2026-03-01'});
	await visit(anonymous(service), 'device-next-day');
	t.is((await devicesOf(service, acme)).length, left + 1);
});

test('a device known only from visits is deleted, any other stays', async (t) => {
	const clock = createFakeClock();
	const own = await startService({LINK_DOMAIN: 'localhost'}, clock);
	t.teardown(() => own.stop());
	const acme = await organization(own);
	const visit = await visitor(acme);
	const names = ['visited', 'in-session', 'identified', 'with-event', 'came-back', 'missed'].map(
		(name) => `device-${name}`,
	);
	for (const name of names) {
		t.is((await visit(anonymous(own), name)).status, 200);
	}

	await acme.client.post('/sdk/session', {deviceId: 'device-in-session'});
	await acme.client.post('/sdk/identity', {deviceId: 'device-identified', externalUserId: randomUUID()});
	await acme.client.post('/sdk/events', {deviceId: 'device-with-event', eventName: 'open'});
	await acme.client.post('/match', {deviceId: 'device-missed'}, {'X-API-Key': acme.clientKey});
	clock.advance(visitDeviceDays * DAY);
	await visit(anonymous(own), 'device-came-back');
	t.is(await forgetDevices(own.services.db, clock.now()), 1);
	t.deepEqual(await devicesOf(own, acme), names.slice(1).toSorted());
});
