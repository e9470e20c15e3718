import test from 'ava';
import {closeDb, createDb, type Db} from '../../../src/platform/db/db.ts';
import {migrateDown, migrateUp, migrationStatus} from '../../../src/platform/db/migrate.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous, withKey} from '../../helpers/callers.ts';
import {createBareDatabase, databaseOf} from '../../helpers/database.ts';
import {dataDirectory, oplink, ready} from '../../helpers/process.ts';
import {startService} from '../../helpers/service.ts';

/** How many migrations the test undoes: the last ones, without which links and clicks are still there. */
const STEPS = 4;

const android =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

test('the tables and data of an earlier version are migrated by the start of this one', async (t) => {
	const database = await databaseOf(t);
	const service = await startService({}, undefined, {...database, drop: async () => {}});
	const acme = await organization(service);
	const {url: shortUrl, id} = await link(acme, {path: '/kept', tags: ['spring']});
	const {pathname} = new URL(shortUrl);
	t.is((await anonymous(service).get(pathname, {'User-Agent': android})).status, 200);
	await service.stop();

	const db = createDb(database.url, {poolSize: 1});
	const before = (await migrationStatus(db)).map(({name}) => name);
	const undone = before.slice(-STEPS).toReversed();
	for (const name of undone) {
		t.is(await migrateDown(db), name);
	}

	await closeDb(db);

	const program = oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: service.adminToken,
		DATABASE_URL: database.url,
		DATA_DIR: await dataDirectory(t),
		LOG_FORMAT: 'json',
	});
	const [, url = ''] = await program.printed(ready);
	const migrated = {url, adminToken: service.adminToken};
	t.true(program.stderr().includes(`"applied":${JSON.stringify(undone.toReversed())}`));
	t.like(await anonymous(migrated).get(`${pathname}/data`), {status: 200, body: {linkId: id, path: '/kept'}});
	t.like(await withKey(migrated, acme.serverKey).get(`/links/${id}`), {status: 200, body: {tags: ['spring']}});
	const period = 'from=2026-03-01&to=2026-03-31';
	const {totals, breakdowns} = (await admin(migrated).get(`/admin/organizations/${acme.id}/stats?${period}`)).body;
	t.is(totals.clicks, 1);
	t.deepEqual(breakdowns.platform, [{key: 'android', count: 1}]);
	program.child.kill('SIGTERM');
	t.is(await program.ended, 0);
});

/** Everything that migrations make, as PostgreSQL spells it. */
const schemaOf = async (db: Db): Promise<string[]> => {
	const {rows} = await db.raw<{rows: Array<{made: string}>}>(
		`WITH tables AS (
			SELECT oid, relname FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace)
				AND relkind IN ('r', 'p') AND relname <> 'migrations'
		)
		SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, attcollation,
			pg_get_expr(adbin, adrelid)) AS made
		FROM tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
			LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
		UNION ALL SELECT concat_ws(' ', relname, conname, pg_get_constraintdef(pg_constraint.oid))
			FROM tables JOIN pg_constraint ON conrelid = tables.oid
		UNION ALL SELECT pg_get_indexdef(indexrelid) FROM tables JOIN pg_index ON indrelid = tables.oid
		UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid)
			FROM tables JOIN pg_trigger ON tgrelid = tables.oid AND NOT tgisinternal
		UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = CAST(current_schema() AS regnamespace)
		ORDER BY made`,
	);
	return rows.map(({made}) => made);
};

test('every migration is undone without a trace, and applied again makes the same tables', async (t) => {
	const database = await createBareDatabase();
	t.teardown(() => database.drop());
	const db = createDb(database.url, {poolSize: 1});
	const names = await migrateUp(db);
	t.is(new Set(names.map((name) => name.split('_')[0])).size, names.length);
	const schema = await schemaOf(db);
	t.true(schema.length > 400);

	const undone: string[] = [];
	for (let name = await migrateDown(db); name !== null; name = await migrateDown(db)) {
		undone.push(name);
	}

	t.deepEqual(undone, names.toReversed());
	t.deepEqual(await schemaOf(db), []);
	t.deepEqual(await migrateUp(db), names);
	t.deepEqual(await schemaOf(db), schema);
	t.is((await db('domains')).length, 1);
	await closeDb(db);
});
