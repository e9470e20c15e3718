import {once} from 'node:events';
import {createServer} from 'node:net';
import test from 'ava';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {openDatabaseLine, openLine} from '../../helpers/cut-off.ts';
import {createTestDatabase, execute} from '../../helpers/database.ts';
import {createFakeClock, startService} from '../../helpers/service.ts';

const redisUrl = process.env.TEST_REDIS_URL ?? '';

test('without the database its routes answer 503 in the envelope, and recover by themselves', async (t) => {
	const database = await createTestDatabase();
	const {line, url: through} = await openDatabaseLine(database.url);
	const service = await startService({}, createFakeClock(), {...database, url: through});
	t.teardown(async () => {
		if (!(await anonymous(service).get('/health/ready')).body.checks) {
			await line.mend();
		}

		await service.stop();
		await line.close();
	});
	const acme = await organization(service);
	const {url} = await link(acme);
	const data = `${new URL(url).pathname}/data?deviceId=device-0001`;
	await anonymous(service).get(data);
	await line.cut();
	t.is((await anonymous(service).get(data)).status, 200);
	for (const answer of [
		await acme.server.get('/links'),
		await admin(service).get('/admin/organizations'),
		await anonymous(service).get('/zz99/unknown'),
	]) {
		t.is(answer.status, 503);
		t.is(answer.body.message, 'Database unavailable');
		t.is(answer.body.statusCode, 503);
	}

	const unready = await anonymous(service).get('/health/ready');
	t.is(unready.status, 503);
	t.is(unready.body.checks.database, 'unavailable');
	t.is((await anonymous(service).get('/health/live')).status, 200);
	t.is((await anonymous(service).get('/links')).status, 401);
	await line.mend();
	t.is((await acme.server.get('/links')).status, 200);
	t.is((await anonymous(service).get(new URL(url).pathname)).status, 200);
	t.is((await anonymous(service).get('/health/ready')).status, 200);
});

test('a database that takes connections and says nothing is 503, not a fault of ours', async (t) => {
	const database = await createTestDatabase();
	const {line, url: through} = await openDatabaseLine(database.url);
	const service = await startService({}, createFakeClock(), {...database, url: through});
	const {port} = line;
	await line.cut();
	const silent = createServer((socket) => socket.unref()).listen(port, '127.0.0.1');
	await once(silent, 'listening');
	t.teardown(async () => {
		await service.stop();
		await line.close();
	});
	const answer = await admin(service).get('/admin/organizations');
	t.is(answer.status, 503);
	t.is(answer.body.message, 'Database unavailable');
	silent.close();
	await line.mend();
	// Attempts of background work that the silent server took end by their own time-out, and fail who waits with them.
	let status = 503;
	while (status === 503) {
		({status} = await admin(service).get('/admin/organizations'));
	}

	t.is(status, 200);
});

test('after a failover from a host that is gone without a word, what waits for it is 503, and then all works', async (t) => {
	const database = await createTestDatabase();
	const {line, url: through} = await openDatabaseLine(database.url);
	const service = await startService({}, createFakeClock(), {...database, url: through});
	t.teardown(async () => {
		await service.stop();
		await line.close();
	});
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
	const service = await startService();
	t.teardown(() => service.stop());
	const {db, changes} = service.services;
	const lock = await db.transaction();
	await lock.raw('SELECT pg_advisory_xact_lock(1)');
	const long = db.transaction((trx) => trx.raw('SELECT pg_advisory_xact_lock(1)'));
	const listeners = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_notify%'
		AND pid <> pg_backend_pid()`;
	const found = async () => (await db.raw(`SELECT pid ${listeners}`)).rows as Array<{pid: number}>;
	const until = async (isSo: () => Promise<boolean>) => {
		while (!(await isSo())) {
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	await until(async () => (await found()).length > 0);
	const [lost] = await found();
	await db.raw(`SELECT pg_terminate_backend(${lost?.pid})`);
	await until(async () => (await found()).some(({pid}) => pid !== lost?.pid) && changes.isHearing());
	await lock.commit();
	await t.notThrowsAsync(long);
});

for (const sqlState of ['53100', '53200', '58030']) {
	test(`a database that fails with ${sqlState} is 503, keeps nothing of the write, and recovers by itself`, async (t) => {
		const service = await startService();
		t.teardown(() => service.stop());
		const acme = await organization(service);
		const {db} = service.services;
		// The codes of a full disk, lack of memory, and a failing disk.
		await db.raw(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${sqlState}'; END $$`);
		await db.raw('CREATE TRIGGER fails AFTER INSERT ON links FOR EACH STATEMENT EXECUTE FUNCTION fail()');
		const refused = await acme.server.post('/links', {path: '/sale'});
		t.deepEqual([refused.status, refused.body.message], [503, 'Database unavailable']);
		await db.raw('DROP TRIGGER fails ON links');
		t.is((await acme.server.get('/links')).body.total, 0);
		t.is((await acme.server.post('/links', {path: '/sale'})).status, 201);
	});
}

test('without Redis requests succeed, limits hold on this machine, and readiness stays 200 and names it', async (t) => {
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
	let ready = await anonymous(service).get('/health/ready');
	while (ready.body.checks.redis !== 'ok') {
		t.is(ready.status, 200);
		ready = await anonymous(service).get('/health/ready');
	}

	t.is(ready.status, 200);
	await line.cut();
	t.is((await acme.server.get('/links')).status, 200);
	const without = await anonymous(service).get('/health/ready');
	t.deepEqual([without.status, without.body.checks.redis], [200, 'unavailable']);
	const caller = anonymous(service);
	const statuses = await Promise.all(Array.from({length: 33}, async () => (await caller.post('/match', {})).status));
	t.deepEqual(statuses.toSorted(), [...new Array(30).fill(200), 429, 429, 429]);
});

test('two processes on one Redis share a window', async (t) => {
	const database = await createTestDatabase();
	const env = {REDIS_URL: redisUrl, LOG_LEVEL: 'info'};
	const logs: string[][] = [[], []];
	const logged = logs.map((lines) => ({write: (line: string) => /Redis/.test(line) && lines.push(line)}));
	const first = await startService(env, createFakeClock(), database, logged[0]);
	const second = await startService(env, createFakeClock(), {...database, drop: async () => {}}, logged[1]);
	t.teardown(async () => {
		await second.stop();
		await first.stop();
	});
	// The first request of a process may come before its connection to Redis, and is then counted by that process.
	for (const {services} of [first, second]) {
		const connected = () =>
			services.limiter.ping().then(
				() => true,
				() => false,
			);
		while (!(await connected())) {
			await new Promise((resolve) => setImmediate(resolve));
		}
	}

	const burst = async (): Promise<number> => {
		const here = anonymous(first);
		const there = anonymous(second, here.address);
		const answers = await Promise.all(
			Array.from({length: 60}, (_, index) => (index % 2 === 0 ? here : there).post('/match', {})),
		);
		return answers.filter(({status}) => status === 200).length;
	};

	// On a machine under load Redis may take longer than a limiter waits for it, which then decides by itself and says
	// so in its log: such a burst proves nothing. Every other one is exact.
	const outages = () => logs.map(({length}) => length).join();
	const isAway = () => logs.some((lines) => /Redis is unavailable; enforcing/.test(lines.at(-1) ?? ''));
	let before: string;
	let admitted: number;
	do {
		before = outages();
		admitted = await burst();
	} while (isAway() || outages() !== before);
	t.is(admitted, 30);
});
