import {once} from 'node:events';
import {createServer} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {Redis} from 'ioredis';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine, openLine} from '../../helpers/cut-off.ts';
import {createTestDatabase, execute} from '../../helpers/database.ts';
import {until} from '../../helpers/redis-server.ts';
import {createFakeClock, serviceOf, startService} from '../../helpers/service.ts';

const redisUrl = process.env.TEST_REDIS_URL ?? '';
const shared = serviceOf(test);

/** A service whose connections to its database go through a line. */
const startOnLine = async (t: ExecutionContext) => {
	const database = await createTestDatabase();
	const {line, url} = await openDatabaseLine(database.url);
	const service = await startService({}, createFakeClock(), {...database, url});
	t.teardown(async () => {
		await service.stop();
		await line.close();
	});
	return {line, service, database};
};

const UNAVAILABLE = {status: 503, body: {statusCode: 503, message: 'Database unavailable'}};

test('without the database its routes answer 503 in the envelope, and recover by themselves', async (t) => {
	const {line, service} = await startOnLine(t);
	const acme = await organization(service);
	const {url} = await link(acme);
	const data = `${new URL(url).pathname}/data?deviceId=device-0001`;
	await anonymous(service).get(data);
	await line.cut();
	t.is((await anonymous(service).get(data)).status, 200);
	t.like(await acme.server.get('/links'), UNAVAILABLE);
	t.like(await admin(service).get('/admin/organizations'), UNAVAILABLE);
	t.like(await anonymous(service).get('/zz99/unknown'), UNAVAILABLE);
	const unready = await anonymous(service).get('/health/ready');
	t.like(unready, {status: 503, body: {checks: {database: 'unavailable'}}});
	t.is((await anonymous(service).get('/health/live')).status, 200);
	t.is((await anonymous(service).get('/links')).status, 401);
	await line.mend();
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await anonymous(service).get(new URL(url).pathname)).status, 200);
	t.is((await anonymous(service).get('/health/ready')).status, 200);
});

test('a database that takes connections and says nothing is 503, not a fault of ours', async (t) => {
	const {line, service} = await startOnLine(t);
	await line.cut();
	const silent = createServer((socket) => socket.unref()).listen(line.port, '127.0.0.1');
	await once(silent, 'listening');
	t.like(await admin(service).get('/admin/organizations'), UNAVAILABLE);
	silent.close();
	await line.mend();
	// Attempts of background work that the silent server took end by their own time-out, and fail who waits with them.
	await until(async () => {
		const {status} = await admin(service).get('/admin/organizations');
		t.true(status === 503 || status === 200);
		return status === 200;
	});
});

test('after a failover from a host that is gone without a word, what waits for it is 503, and then all works', async (t) => {
	const {line, service, database} = await startOnLine(t);
	const acme = await organization(service);
	await link(acme);
	line.freeze();
	const waiting = acme.server.post('/links', {path: '/waiting'});
	// New sessions take the server for another one.
	await execute(
		database.url,
		`CREATE FUNCTION public.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql AS 'SELECT timestamptz ''epoch''';
		ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET search_path = public, pg_catalog`,
	);
	line.thaw();
	t.is((await waiting).status, 503);
	t.is((await acme.server.post('/links', {path: '/later'})).status, 201);
});

test('a statement that takes long survives a lost change feed', async (t) => {
	const {db, changes} = shared.services;
	const lock = await db.transaction();
	await lock.raw('SELECT pg_advisory_xact_lock(1)');
	const long = db.transaction((trx) => trx.raw('SELECT pg_advisory_xact_lock(1)'));
	const listeners = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_notify%'
		AND pid <> pg_backend_pid()`;
	const found = async () => (await db.raw(`SELECT pid ${listeners}`)).rows as Array<{pid: number}>;
	await until(async () => (await found()).length > 0);
	const [lost] = await found();
	await db.raw(`SELECT pg_terminate_backend(${lost?.pid})`);
	await until(async () => (await found()).some(({pid}) => pid !== lost?.pid) && changes.isHearing());
	await lock.commit();
	await t.notThrowsAsync(long);
});

test('a database that lacks disk or memory is 503, keeps nothing of the write, and recovers by itself', async (t) => {
	const acme = await organization(shared);
	const {db} = shared.services;
	// The codes of a full disk, lack of memory, and a failing disk.
	for (const [made, sqlState] of ['53100', '53200', '58030'].entries()) {
		await db.raw(`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${sqlState}'; END $$`);
		await db.raw('CREATE TRIGGER fails AFTER INSERT ON links FOR EACH STATEMENT EXECUTE FUNCTION fail()');
		t.like(await acme.server.post('/links', {path: '/sale'}), UNAVAILABLE, sqlState);
		await db.raw('DROP TRIGGER fails ON links');
		t.is((await acme.server.get('/links')).body.total, made);
		t.is((await acme.server.post('/links', {path: '/sale'})).status, 201);
	}
});

test('limits are counted in Redis; without it requests succeed, limits hold here, and readiness names it', async (t) => {
	const {hostname, port} = new URL(redisUrl);
	const line = await openLine({host: hostname, port: Number(port)});
	const service = await startService({REDIS_URL: `redis://127.0.0.1:${line.port}`});
	t.teardown(async () => {
		await service.stop();
		await line.close();
	});
	const acme = await organization(service);
	t.is((await acme.server.get('/links')).status, 200);
	// The first answer may come before the connection, and on a busy machine Redis may take longer than it is waited for.
	await until(async () => {
		const {status, body} = await anonymous(service).get('/health/ready');
		t.is(status, 200);
		return body.checks.redis === 'ok';
	});
	const redis = new Redis(redisUrl);
	t.teardown(() => redis.disconnect());
	await until(async () => {
		const {address, post} = anonymous(service);
		await post('/match', {});
		return (await redis.exists(`oplink:limit:{match:${address}}`)) === 1;
	});
	await line.cut();
	t.is((await acme.server.get('/links')).status, 200);
	const without = await anonymous(service).get('/health/ready');
	t.like(without, {status: 200, body: {checks: {redis: 'unavailable'}}});
	const caller = anonymous(service);
	const statuses = await Promise.all(Array.from({length: 33}, async () => (await caller.post('/match', {})).status));
	t.deepEqual(statuses.toSorted(), [...new Array(30).fill(200), 429, 429, 429]);
});
