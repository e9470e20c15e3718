import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {connect} from 'node:net';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {Client} from 'pg';
import {closeDb, createDb} from '../../../src/platform/db/db.ts';
import {migrateUp} from '../../../src/platform/db/migrate.ts';
import {startEmbeddedPostgres} from '../../../src/platform/embedded/postgres.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous, withKey} from '../../helpers/callers.ts';
import {createBareDatabase, createTestDatabase, execute} from '../../helpers/database.ts';
import {isDeep} from '../../helpers/deep.ts';
import {findProgram} from '../../helpers/find-program.ts';
import {dataDirectory, oplink} from '../../helpers/process.ts';
import {createFakeClock, startService, storedRows, type TestService} from '../../helpers/service.ts';
import {startedFor, startedIn} from '../../helpers/started.ts';
import {freePort} from '../../setup/free-port.ts';
import {silent, temporaryFolder} from '../embedded/_clusters.ts';
import {startOddServer} from './_odd-server.ts';
import {environment, refusalOf, served} from './_served.ts';

const pgbouncer = findProgram('/usr/sbin/pgbouncer');
const withPooler = pgbouncer === null ? test.skip : test;

const server = startedFor(test, () => startOddServer());

const listens = (port: number): Promise<boolean> =>
	new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1', () => {
			socket.destroy();
			resolve(true);
		}).on('error', () => resolve(false));
	});

/** A PgBouncer with default settings except the given ones. @returns the address of a new database through it. */
const pooled = async (t: ExecutionContext, database: string, ...settings: string[]): Promise<string> => {
	await server.run(`CREATE DATABASE ${database}`);
	const folder = await dataDirectory(t);
	const port = await freePort();
	const users = path.join(folder, 'users');
	await writeFile(users, '"admin" "password"\n', {mode: 0o644});
	const file = path.join(folder, 'pgbouncer.ini');
	const lines = [
		...['[databases]', `* = host=127.0.0.1 port=${server.port}`],
		...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
		...['auth_type = scram-sha-256', `auth_file = ${users}`, ...settings],
	];
	await writeFile(file, lines.join('\n'));
	const child = spawn(pgbouncer ?? '', [file], {
		// It refuses to run as root.
		...(process.getuid?.() === 0 ? {uid: 65_534, gid: 65_534} : {}),
		stdio: 'ignore',
	});
	t.teardown(async () => {
		const ended = once(child, 'exit');
		child.kill('SIGKILL');
		await ended;
	});
	while (!(await listens(port))) {
		if (child.exitCode !== null) {
			throw new Error(`pgbouncer ended with ${child.exitCode}`);
		}
	}

	return `postgres://admin:password@127.0.0.1:${port}/${database}`;
};

const assertPoolerIsFine = async (t: ExecutionContext, service: Parameters<typeof admin>[0]) => {
	const {findings} = (await admin(service).get('/admin/doctor')).body;
	t.is(findings.find(({check}: {check: string}) => check === 'database.pooler').status, 'ok');
};

withPooler('through PgBouncer with its defaults a server becomes ready and works (needs pgbouncer)', async (t) => {
	const {ready, stop} = served(t, await environment(t, await pooled(t, 'defaults')));
	const service = await ready;
	t.is((await anonymous(service).get('/health/ready')).status, 200);
	for (const name of ['One', 'Two', 'Three']) {
		t.is((await admin(service).post('/admin/organizations', {name})).status, 201);
	}

	await assertPoolerIsFine(t, service);
	await stop();
});

withPooler('through PgBouncer in transaction mode all but the listening works (needs pgbouncer)', async (t) => {
	const url = await pooled(t, 'shared', 'pool_mode = transaction', 'default_pool_size = 3');
	const env = {...(await environment(t, url)), DATABASE_LISTEN_URL: server.url('shared')};
	const processes = [served(t, env), served(t, {...env, DATA_DIR: await dataDirectory(t)})] as const;
	const [one, other] = [await processes[0].ready, await processes[1].ready];
	await assertPoolerIsFine(t, one);
	const acme = await organization(one as TestService);
	const byOther = withKey(other, acme.serverKey);
	const made = await Promise.all(
		Array.from({length: 20}, (_, index) => (index % 2 === 0 ? acme.server : byOther).post('/links', {path: '/first'})),
	);
	t.deepEqual(new Set(made.map(({status}) => status)), new Set([201]));
	const {id, shortCode} = made[0]?.body ?? {};
	const pathShownBy = async (service: typeof one) =>
		(await anonymous(service).get(`/${acme.orgKey}/${shortCode}/data`)).body.path;
	t.deepEqual([await pathShownBy(one), await pathShownBy(other)], ['/first', '/first']);
	t.is((await acme.server.patch(`/links/${id}`, {path: '/second'})).status, 200);
	// The other process had the link in memory.
	t.is(await pathShownBy(other), '/second');
	await Promise.all(processes.map(({stop}) => stop()));

	const backup = oplink(t, ['backup', '-'], env);
	t.is(await backup.ended, 0, backup.stderr());
});

const refused = {
	transaction: /^DATABASE_URL: a pooler in front of PostgreSQL .*Set DATABASE_LISTEN_URL to PostgreSQL itself/,
	statement: /^DATABASE_URL: a pooler in front of PostgreSQL .*Set pool_mode = transaction or session/,
};

for (const [mode, sentence] of Object.entries(refused)) {
	withPooler(`PgBouncer in ${mode} mode ends a start with 78 and says what to set (needs pgbouncer)`, async (t) => {
		const env = await environment(t, await pooled(t, mode, `pool_mode = ${mode}`));
		for (const argv of [['serve'], ['migrate', 'up']]) {
			t.regex(await refusalOf(t, argv, env), sentence);
		}
	});
}

withPooler('a transaction pooler that Oplink cannot work behind ends a start with 78 (needs pgbouncer)', async (t) => {
	const url = await pooled(t, 'unfit', 'pool_mode = transaction');
	const env = await environment(t, url);
	const migrate = (listenUrl: string) => refusalOf(t, ['migrate', 'up'], {...env, DATABASE_LISTEN_URL: listenUrl});
	t.regex(
		await migrate(server.url('postgres')),
		/^DATABASE_LISTEN_URL: notifications sent through DATABASE_URL do not arrive there/,
	);
	t.regex(await migrate(server.url('nowhere')), /^DATABASE_LISTEN_URL: the database does not exist/);
	await server.run("ALTER DATABASE unfit SET statement_timeout = '5s'");
	await server.run('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $$unfit$$');
	t.regex(
		await migrate(server.url('unfit')),
		/run: ALTER ROLE "admin" SET statement_timeout = '0'; and let the pooler/,
	);
});

const bareDatabase = async (t: ExecutionContext): Promise<string> => {
	const {url, drop} = await createBareDatabase();
	t.teardown(drop);
	return url;
};

/** `npm run test:deep` repeats the race more often. */
const ROUNDS = isDeep ? 10 : 3;

test('of two processes that start on an empty database both become ready, every time', async (t) => {
	for (let round = 0; round < ROUNDS; round += 1) {
		const url = await bareDatabase(t);
		const environments = [await environment(t, url), await environment(t, url)];
		for (const {ready, stop} of environments.map((env) => served(t, env))) {
			t.is((await anonymous(await ready).get('/health/ready')).status, 200);
			await stop();
		}
	}
});

test('of three migrate up at once on an empty database each ends with 0, and each migration is applied by one', async (t) => {
	const env = {DATABASE_URL: await bareDatabase(t)};
	const all = Array.from({length: 3}, () => oplink(t, ['migrate', 'up', '--json'], env));
	t.deepEqual(await Promise.all(all.map(({ended}) => ended)), [0, 0, 0]);
	const status = oplink(t, ['migrate', 'status', '--json'], env);
	t.is(await status.ended, 0);
	const names = (JSON.parse(status.stdout()) as Array<{name: string}>).map(({name}) => name);
	t.deepEqual(all.flatMap(({stdout}) => (JSON.parse(stdout()) as {applied: string[]}).applied).sort(), names);
});

test('a migrate up that is killed midway leaves no lock and no half of a migration to the next', async (t) => {
	const url = await bareDatabase(t);
	const client = new Client({connectionString: url});
	await client.connect();
	// Every statement that makes something waits for the test.
	await client.query(`SELECT pg_advisory_lock(42);
		CREATE FUNCTION wait() RETURNS event_trigger LANGUAGE plpgsql AS
			$$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); END $$;
		CREATE EVENT TRIGGER waits ON ddl_command_start EXECUTE FUNCTION wait()`);
	const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted";
	const killed = oplink(t, ['migrate', 'up'], {DATABASE_URL: url});
	while ((await client.query(waiting)).rowCount !== 1) {
		// Until it is midway.
	}

	killed.child.kill('SIGKILL');
	await killed.ended;
	const next = oplink(t, ['migrate', 'up'], {DATABASE_URL: url});
	await client.query('SELECT pg_advisory_unlock(42)');
	t.is(await next.ended, 0);
	t.regex(next.stdout(), /^applied \d+_organizations$/m);
	await client.end();
});

test('a read-only database is 503 for writes, not ready and reported by doctor; pages work, and later writes too', async (t) => {
	const database = await createTestDatabase();
	const service = await startedIn(t, startService({}, createFakeClock(new Date()), database));
	const acme = await organization(service);
	const {url, id} = await link(acme);
	const visit = () => anonymous(service).get(new URL(url).pathname);
	// A process that never answered a page has nothing of this week yet, and could not write it either.
	t.is((await visit()).status, 200);
	const name = new URL(database.url).pathname.slice(1);
	const asOperator = (sql: string) => execute(process.env['TEST_DATABASE_URL'] ?? '', sql);
	await asOperator(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
	// Open sessions keep their original mode.
	await asOperator(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
	// The first statements meet connections that were ended.
	while ((await anonymous(service).get('/health/ready')).body.checks.database !== 'read-only') {
		// Until the pool has connections of now.
	}

	t.like(await acme.server.post('/links', {path: '/sale'}), {status: 503, body: {message: 'Database unavailable'}});
	t.is((await admin(service).post('/admin/organizations', {name: 'Other'})).status, 503);
	t.is((await anonymous(service).get('/health/ready')).status, 503);
	t.is((await acme.server.get(`/links/${id}`)).status, 200);
	const {findings} = (await admin(service).get('/admin/doctor')).body;
	const named = findings.find(({check}: {check: string}) => check === 'database.writable');
	t.is(named.status, 'fail');
	t.regex(named.message, /is read-only/);
	for (let click = 0; click < 5; click += 1) {
		t.is((await visit()).status, 200);
	}

	// The sessions that could only read are still open.
	await asOperator(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
	while ((await anonymous(service).get('/health/ready')).status !== 200) {
		// Until the pool has let go of them.
	}

	t.is((await acme.server.post('/links', {path: '/sale'})).status, 201);
	t.is((await storedRows(service, 'clicks', {link_id: id})).length, 6);
});

test('a standby is not ready and 503 for writes until it is promoted', async (t) => {
	const dataDir = await temporaryFolder(t);
	const primary = await startEmbeddedPostgres({dataDir, log: silent});
	const db = createDb(primary.connection);
	await migrateUp(db);
	await closeDb(db);
	await primary.stop();
	await writeFile(path.join(primary.directory, 'standby.signal'), '');
	const standby = await startedIn(t, startEmbeddedPostgres({dataDir, log: silent}));
	const database = {url: standby.connectionString, drop: async () => {}};
	const service = await startedIn(t, startService({}, createFakeClock(), database));
	const unready = await anonymous(service).get('/health/ready');
	t.like(unready, {status: 503, body: {checks: {database: 'read-only', migrations: 'ok'}}});
	t.is((await admin(service).post('/admin/organizations', {name: 'Acme'})).status, 503);
	t.is((await admin(service).get('/admin/organizations')).status, 200);
	await execute(standby.connectionString, 'SELECT pg_promote()');
	t.is((await anonymous(service).get('/health/ready')).status, 200);
	t.is((await admin(service).post('/admin/organizations', {name: 'Acme'})).status, 201);
});
