import {mkdir, readFile, stat} from 'node:fs/promises';
import test from 'ava';
import {reportError} from '../../../src/cli/report-error.ts';
import {isConnectionFault} from '../../../src/platform/connection-fault.ts';
import {needed} from '../../../src/platform/db/check-server.ts';
import {explainDatabaseError, isMistake} from '../../../src/platform/db/database-faults.ts';
import {closeDb, createDb} from '../../../src/platform/db/db.ts';
import {asOperatorError} from '../../../src/platform/db/open-database.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {oplink} from '../../helpers/process.ts';
import {startedFor} from '../../helpers/started.ts';
import {tlsFile} from '../../helpers/tls-file.ts';
import {startOddServer} from './_odd-server.ts';
import {environment, refusalOf, served} from './_served.ts';

const server = startedFor(test, () => startOddServer());
test.serial.before(async () => {
	for (const sql of [
		...['app', 'refused', 'guarded'].map((role) => `CREATE ROLE ${role} LOGIN PASSWORD 'password'`),
		...['norights', 'owned', 'taken', 'reads', 'nopath'].map((name) => `CREATE DATABASE ${name}`),
		"CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'",
		'ALTER DATABASE reads SET default_transaction_read_only = on',
		'ALTER DATABASE nopath SET search_path = missing',
	]) {
		await server.run(sql);
	}

	await server.run('GRANT ALL ON SCHEMA public TO app', 'owned');
	await server.run('CREATE TABLE migrations (id int, name text, migration_time timestamptz)', 'owned');
	await server.run('CREATE TABLE organizations (id int)', 'taken');
});

test('what a file or a name server refuses is no fault of the database', async (t) => {
	const txt = Object.assign(new Error('queryTxt ENOTFOUND a.example'), {code: 'ENOTFOUND', syscall: 'queryTxt'});
	const refusals = await Promise.allSettled([
		readFile('/nowhere/x'),
		stat('/nowhere'),
		mkdir('/proc/x'),
		Promise.reject(txt),
	]);
	for (const {reason} of refusals as PromiseRejectedResult[]) {
		t.is(explainDatabaseError(reason), null, reason.message);
		t.false(isConnectionFault(reason), reason.message);
	}

	const refused = await t.throwsAsync(createDb('postgres:///x?host=/nowhere').raw('SELECT 1'));
	t.regex(explainDatabaseError(refused)?.fault ?? '', /^the socket cannot be opened \(connect ENOENT/);
	t.true(isConnectionFault(refused));
});

/** For a busy machine. */
const PATIENT = {connectMs: 60_000, acquireMs: 60_000};

const VERIFIED = `postgres?sslmode=verify-full&sslrootcert=${tlsFile('authority')}`;

/** The account is a user, and its password and a host where those are other ones. */
const mistakes: Array<[name: string, account: string, database: string, says: RegExp]> = [
	['no right to create in the schema', 'app', 'norights', /: GRANT CREATE, USAGE ON SCHEMA "public" TO "app"\.$/],
	['tables that another user owns', 'app', 'owned', /\(permission denied for table migrations\)\. Grant it/],
	['tables of another program', 'admin', 'taken', /of another program \(relation "organizations" already exists\)/],
	['a read-only database', 'admin', 'reads', /the database is read-only \(default_transaction_read_only is on\)\. /],
	['a search_path without a schema', 'admin', 'nopath', /names no schema that user admin may use\. Create one/],
	['another encoding than UTF8', 'admin', 'latin', /the encoding of the database is LATIN1, and not UTF8\. Create it/],
	['a wrong password', 'admin:wrong', 'postgres', /is refused \(password authentication failed for user "admin"\)/],
	['no password', 'admin:', 'postgres', /PostgreSQL asks for a password, and DATABASE_URL has none/],
	['a database that does not exist', 'admin', 'nothing', /does not exist \(database "nothing" does not exist\)/],
	['a user whom pg_hba.conf refuses', 'refused', 'postgres', /may not connect \(pg_hba\.conf rejects connection/],
	['a user who has to come by TLS', 'guarded', 'postgres', /requires TLS .*\. Add sslmode=verify-full to DATABASE_URL/],
	['a CA that is not named', 'admin', 'postgres?sslmode=require', /Name the file of that CA: sslrootcert=FILE/],
	['a certificate for another name', 'admin@127.0.0.1', VERIFIED, /certificate of the server is for another name/],
	['ssl=require', 'admin', 'postgres?ssl=require', /has ssl=require, which is not supported: write sslmode=require$/],
];

for (const [name, account, database, says] of mistakes) {
	test(`${name} ends serve and migrate up with 78 and one sentence, which doctor says as well`, async (t) => {
		const [user = '', host = 'localhost'] = account.split('@');
		const login = user.includes(':') ? user : `${user}:password`;
		const env = await environment(t, `postgres://${login}@${host}:${server.port}/${database}`);
		const refusals = await Promise.all([refusalOf(t, ['serve'], env), refusalOf(t, ['migrate', 'up'], env)]);
		for (const refusal of refusals) {
			t.regex(refusal, says);
			t.regex(refusal, /^DATABASE_URL/);
		}

		const doctor = oplink(t, ['doctor', '--json'], {...env, OPLINK_URL: 'http://127.0.0.1:1', PORT: '1'});
		await doctor.ended;
		const {findings} = JSON.parse(doctor.stdout()) as {findings: Array<Record<string, string>>};
		const failed = findings.filter(
			({check = '', status}) => /^(database|configuration)/.test(check) && status === 'fail',
		);
		t.true(failed.length > 0);
		t.notRegex(doctor.stderr(), /This is a bug|\n {4}at /);
	});
}

test('whatever the database sets for its sessions, it is migrated, ready and written to', async (t) => {
	const settings = {
		datestyle: 'German',
		timezone: 'Asia/Kathmandu',
		intervalstyle: 'iso_8601',
		client_encoding: 'LATIN1',
		bytea_output: 'escape',
		standard_conforming_strings: 'off',
		statement_timeout: '2ms',
		lock_timeout: '1ms',
		transaction_timeout: '50ms',
		default_transaction_isolation: 'serializable',
		array_nulls: 'off',
		idle_session_timeout: '50ms',
	};
	await server.run('CREATE DATABASE settings OWNER app');
	for (const [name, value] of Object.entries(settings)) {
		await server.run(`ALTER DATABASE settings SET ${name} = '${value}'`);
	}

	const {ready, stop} = served(t, await environment(t, server.url('settings', 'app')));
	const service = await ready;
	t.is((await anonymous(service).get('/health/ready')).status, 200);
	const name = 'Grüße 東京';
	const {status, body} = await admin(service).post('/admin/organizations', {name});
	t.is(status, 201);
	t.like((await admin(service).get(`/admin/organizations/${body.id}`)).body, {name, createdAt: body.createdAt});
	await stop();
});

test('a session that the database ends before a busy process lifts its timeouts is opened again', async (t) => {
	await server.run('CREATE DATABASE impatient');
	await server.run("ALTER DATABASE impatient SET idle_session_timeout = '20ms'");
	const db = createDb(server.url('impatient'), {poolSize: 1, timeouts: PATIENT});
	t.teardown(() => closeDb(db));
	let left = 12;
	const busy = setInterval(() => {
		const end = performance.now() + 100;
		while (performance.now() < end) {
			// As at a start, while code loads.
		}

		left -= 1;
		if (left === 0) {
			clearInterval(busy);
		}
	}, 1);
	t.teardown(() => clearInterval(busy));
	const {rows} = await db.raw('SELECT 1 AS one');
	t.deepEqual(rows, [{one: 1}]);
	const between = await db.raw('SHOW idle_session_timeout');
	t.deepEqual(between.rows, [{idle_session_timeout: '0'}]);
});

test('a session that a timeout ends in a transaction is a lost connection, so that another one is opened', async (t) => {
	const db = createDb(server.url('postgres'), {timeouts: PATIENT});
	t.teardown(() => closeDb(db));
	const ended = await t.throwsAsync(db.raw("SET transaction_timeout = '5ms'; SELECT pg_sleep(10)"));
	t.is((ended as {code?: string}).code, '25P04');
	t.true(isConnectionFault(ended));
});

test('a silence is waited for, and then one sentence with 1, so that a supervisor starts the program again', (t) => {
	for (const [code, message, expected] of [
		['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1', /the connection was refused \(connect ECONNREFUSED/],
		['ENOTFOUND', 'getaddrinfo ENOTFOUND db.example', /the host name cannot be resolved \(getaddrinfo ENOTFOUND/],
		[undefined, 'timeout expired', /the host does not answer/],
		['57P03', 'the database system is starting up', /is starting, recovering or stopping/],
		['53300', 'sorry, too many clients already', /no connection is free/],
	] as const) {
		const error = Object.assign(new Error(message), code && {code});
		t.false(isMistake(error));
		const refusal = asOperatorError(error, {databaseUrl: 'postgres://db.example/app'});
		const {lines, exitCode} = reportError(refusal);
		t.deepEqual([lines.length, exitCode], [1, 1], message);
		t.regex(lines[0] ?? '', expected);
	}
});

test('our own errors are not attributed to the database', (t) => {
	t.is(explainDatabaseError(new TypeError('x is not a function')), null);
});

test('a PostgreSQL older than 14 is named, and 14 is not', (t) => {
	const facts = {version: '13.14', number: 130_014} as Parameters<typeof needed.version>[0];
	t.is(needed.version(facts)?.fault, 'PostgreSQL 13.14 is older than 14');
	t.is(needed.version({...facts, number: 140_000}), null);
});

test('a private CA that is named is trusted, whichever name sslmode has, without a warning', async (t) => {
	for (const mode of ['require', 'verify-ca', 'verify-full']) {
		const url = server.url('postgres', 'guarded', `?sslmode=${mode}&sslrootcert=${tlsFile('authority')}`);
		const warned: Error[] = [];
		const listen = (warning: Error) => warned.push(warning);
		process.on('warning', listen);
		const db = createDb(url, {timeouts: PATIENT});
		const {rows} = await db.raw('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
		t.deepEqual(rows, [{ssl: true}]);
		await closeDb(db);
		await new Promise((resolve) => setImmediate(resolve));
		process.off('warning', listen);
		t.deepEqual(warned, []);
	}
});
