import {setTimeout as delay} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine} from '../../helpers/cut-off.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {createRedisServer, until} from '../../helpers/redis-server.ts';
import {createFakeClock, startService, type TestService} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';
import {startTwoServices} from '../../helpers/two-services.ts';

const pair = startedFor(test, () => startTwoServices({LINK_DOMAIN: 'localhost'}));

const dataOf = async (service: TestService, path: string) => {
	const {status, body} = await anonymous(service).get(`${path}/data`);
	return status === 200 ? body.params : status;
};

test('a write through one process is always visible to the other once it is answered', async (t) => {
	const acme = await organization(pair.one);
	const {id, shortCode} = await link(acme);
	const path = `/${acme.orgKey}/${shortCode}`;
	for (let round = 0; round < 60; round += 1) {
		const [writer, reader] = round % 2 === 0 ? [pair.one, pair.other] : [pair.other, pair.one];
		// Both have it in memory before it changes.
		await Promise.all([dataOf(pair.one, path), dataOf(pair.other, path)]);
		const params = {round: String(round)};
		const {status} = await admin(writer).patch(`/admin/organizations/${acme.id}/links/${id}`, {params});
		t.is(status, 200);
		t.deepEqual(await dataOf(reader, path), params);
		t.deepEqual(await dataOf(writer, path), params);
	}
});

test('changes of a link, its template and its organization are visible at once', async (t) => {
	const acme = await organization(pair.one);
	const base = `/admin/organizations/${acme.id}`;
	const fields = {name: 'T', path: '/t', params: {from: 'template'}};
	const {body: template} = await admin(pair.one).post(`${base}/templates`, fields);
	const {id, shortCode} = await link(acme, {templateId: template.id});
	const path = `/${acme.orgKey}/${shortCode}`;
	const seen = async (expected: unknown) =>
		t.deepEqual([await dataOf(pair.one, path), await dataOf(pair.other, path)], [expected, expected]);
	await seen({from: 'template'});
	await admin(pair.one).patch(`${base}/templates/${template.id}`, {params: {from: 'changed'}});
	await seen({from: 'changed'});
	await admin(pair.other).patch(`${base}/links/${id}`, {isActive: false});
	await seen(410);
	await admin(pair.one).patch(`${base}/links/${id}`, {isActive: true});
	await seen({from: 'changed'});
	await admin(pair.other).post(`${base}/suspend`);
	await seen(410);
	await admin(pair.other).post(`${base}/activate`);
	await seen({from: 'changed'});
	await admin(pair.one).delete(`${base}/links/${id}`);
	await seen(404);
});

test('an unknown code is cached until a link uses it', async (t) => {
	const acme = await organization(pair.one);
	const path = `/${acme.orgKey}/later`;
	t.deepEqual([await dataOf(pair.one, path), await dataOf(pair.other, path)], [404, 404]);
	await link(acme, {shortCode: 'later', params: {now: 'yes'}});
	t.deepEqual([await dataOf(pair.one, path), await dataOf(pair.other, path)], [{now: 'yes'}, {now: 'yes'}]);
});

test('a link that expires is gone without anybody writing', async (t) => {
	const acme = await organization(pair.one);
	const {shortCode} = await link(acme, {expiry: new Date(pair.one.clock.now().getTime() + 60_000).toISOString()});
	const path = `/${acme.orgKey}/${shortCode}`;
	t.deepEqual(await dataOf(pair.one, path), {});
	pair.one.clock.advance(61);
	t.is(await dataOf(pair.one, path), 410);
});

/** How long a process trusts its memory after a heartbeat. */
const TRUST_MS = 2500;

/** A service whose connection to the database can be cut. */
const startFar = async (t: ExecutionContext, databaseUrl: string, env: Record<string, string> = {}) => {
	const {line, url} = await openDatabaseLine(databaseUrl);
	const database = {url, drop: async () => {}};
	const service = await startService({LINK_DOMAIN: 'localhost', ...env}, createFakeClock(), database);
	t.teardown(async () => {
		await line.mend().catch(() => {});
		await service.stop();
		await line.close();
	});
	await service.services.changes.settled();
	return {line, service};
};

test('a process that is cut off stops answering from memory before a write elsewhere is answered', async (t) => {
	const {line, service: far} = await startFar(t, pair.one.databaseUrl);
	await pair.one.services.changes.settled();
	const acme = await organization(pair.one);
	const {id, shortCode} = await link(acme, {params: {version: 'old'}});
	const path = `/${acme.orgKey}/${shortCode}`;
	t.deepEqual(await dataOf(far, path), {version: 'old'});

	await line.cut();
	const changed = await admin(pair.one).patch(`/admin/organizations/${acme.id}/links/${id}`, {
		params: {version: 'new'},
	});
	t.is(changed.status, 200);
	t.is(await dataOf(far, path), 503);
	await line.mend();
});

test('all processes without the database answer from memory as long as none of them can write (needs Redis)', async (t) => {
	const redis = await createRedisServer(t);
	await redis.start();
	const {url, drop} = await createTestDatabase();
	t.teardown(drop);
	const start = () => startFar(t, url, {REDIS_URL: `redis://127.0.0.1:${redis.port}`});
	const [near, far] = [await start(), await start()];
	const acme = await organization(near.service);
	const {id, shortCode} = await link(acme, {params: {version: 'old'}});
	const path = `/${acme.orgKey}/${shortCode}`;
	for (const {service} of [near, far]) {
		t.deepEqual(await dataOf(service, path), {version: 'old'});
	}

	// They know each other after a heartbeat's interval by the machine's clock.
	await until(() =>
		[near, far].every(({service}) => !service.services.changes.isAlone() && service.services.changes.isHearing()),
	);
	await delay(1000);
	const began = performance.now();
	await Promise.all([near.line.cut(), far.line.cut()]);
	while (performance.now() - began < 2 * TRUST_MS) {
		for (const {service} of [near, far]) {
			t.deepEqual(await dataOf(service, path), {version: 'old'});
		}

		await delay(100);
	}

	await near.line.mend();
	const operator = admin(near.service);
	await until(async () => (await anonymous(near.service).get('/health/ready')).status === 200);
	const changed = await operator.patch(`/admin/organizations/${acme.id}/links/${id}`, {params: {version: 'new'}});
	t.is(changed.status, 200);
	t.is(await dataOf(far.service, path), 503);
});
