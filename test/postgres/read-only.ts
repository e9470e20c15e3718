import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {createDb} from '../../src/db/db.ts';
import {migrateUp} from '../../src/db/migrate.ts';
import {startEmbeddedPostgres} from '../../src/embedded/postgres.ts';
import {silent, temporaryFolder} from '../embedded/_clusters.ts';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {createTestDatabase, execute} from '../helpers/database.ts';
import {createFakeClock, startService, storedRows} from '../helpers/service.ts';

const android =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

test('a read-only database is 503 for writes, not ready and reported by doctor; pages work, and later writes too', async (t) => {
	const database = await createTestDatabase();
	const service = await startService({}, createFakeClock(new Date()), database);
	t.teardown(() => service.stop());
	const acme = await organization(service);
	const {url, id} = await link(acme);
	const {pathname} = new URL(url);
	// A process that never answered a page has nothing of this week yet, and could not write it either.
	t.is((await anonymous(service).get(pathname, {'User-Agent': android})).status, 200);
	const name = new URL(database.url).pathname.slice(1);
	const asOperator = (sql: string) => execute(process.env['TEST_DATABASE_URL'] ?? '', sql);
	await asOperator(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
	// Open sessions keep their original mode.
	await asOperator(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
	// The first statements meet connections that were ended.
	while ((await anonymous(service).get('/health/ready')).body.checks.database !== 'read-only') {
		// Until the pool has connections of now.
	}

	const refused = await acme.server.post('/links', {path: '/sale'});
	t.deepEqual([refused.status, refused.body.message], [503, 'Database unavailable']);
	t.is((await admin(service).post('/admin/organizations', {name: 'Other'})).status, 503);
	const unready = await anonymous(service).get('/health/ready');
	t.deepEqual([unready.status, unready.body.checks.database], [503, 'read-only']);
	t.is((await acme.server.get(`/links/${id}`)).status, 200);
	const {findings} = (await admin(service).get('/admin/doctor')).body;
	const named = findings.find(({check}: {check: string}) => check === 'database.writable');
	t.is(named.status, 'fail');
	t.regex(named.message, /is read-only/);
	for (let click = 0; click < 5; click += 1) {
		t.is((await anonymous(service).get(pathname, {'User-Agent': android})).status, 200);
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
	await db.destroy();
	await primary.stop();
	await writeFile(path.join(primary.directory, 'standby.signal'), '');
	const standby = await startEmbeddedPostgres({dataDir, log: silent});
	t.teardown(() => standby.stop());
	const database = {url: standby.connectionString, drop: async () => {}};
	const service = await startService({}, createFakeClock(), database);
	t.teardown(() => service.stop());
	const unready = await anonymous(service).get('/health/ready');
	t.deepEqual([unready.status, unready.body.checks], [503, {database: 'read-only', migrations: 'ok'}]);
	t.is((await admin(service).post('/admin/organizations', {name: 'Acme'})).status, 503);
	t.is((await admin(service).get('/admin/organizations')).status, 200);
	await execute(standby.connectionString, 'SELECT pg_promote()');
	t.is((await anonymous(service).get('/health/ready')).status, 200);
	t.is((await admin(service).post('/admin/organizations', {name: 'Acme'})).status, 201);
});
