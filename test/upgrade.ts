import test from 'ava';
import {createDb} from '../src/db/db.ts';
import {migrateDown, migrationStatus} from '../src/db/migrate.ts';
import {link, organization} from './helpers/builders.ts';
import {anonymous, send} from './helpers/callers.ts';
import {createTestDatabase} from './helpers/database.ts';
import {dataDirectory, oplink, ready} from './helpers/process.ts';
import {startService} from './helpers/service.ts';

/** How many versions of the tables the test goes back. */
const STEPS = 3;

const android =
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36';

test('the tables of an earlier version, with what is in them, are moved forward by the start of this one', async (t) => {
	const database = await createTestDatabase();
	t.teardown(() => database.drop());
	const service = await startService({}, undefined, {...database, drop: async () => {}});
	const acme = await organization(service);
	const {url: shortUrl, id} = await link(acme, {path: '/kept', tags: ['spring']});
	const {pathname} = new URL(shortUrl);
	t.is((await anonymous(service).get(pathname, {'User-Agent': android})).status, 200);
	await service.stop();

	const db = createDb(database.url, {poolSize: 1});
	const before = (await migrationStatus(db)).map(({name}) => name);
	const undone: Array<string | null> = [];
	for (let step = 0; step < STEPS; step += 1) {
		undone.push(await migrateDown(db));
	}

	t.deepEqual(undone, before.slice(-STEPS).toReversed());
	await db.destroy();

	const program = oplink(t, ['serve'], {
		PORT: '0',
		ADMIN_TOKEN: service.adminToken,
		DATABASE_URL: database.url,
		DATA_DIR: await dataDirectory(t),
		LOG_FORMAT: 'json',
	});
	const [, url = ''] = await program.printed(ready);
	t.regex(
		program.stderr(),
		new RegExp(`"applied":${JSON.stringify(undone.toReversed()).replaceAll(/[[\]]/g, '\\$&')}`),
	);
	t.like(await send(url, 'GET', `${pathname}/data`), {status: 200, body: {linkId: id, path: '/kept'}});
	const key = {Authorization: `Bearer ${acme.serverKey}`};
	t.like(await send(url, 'GET', `/links/${id}`, key), {status: 200, body: {tags: ['spring']}});
	const stats = await send(url, 'GET', `/admin/organizations/${acme.id}/stats?from=2026-03-01&to=2026-03-31`, {
		Authorization: `Bearer ${service.adminToken}`,
	});
	t.is(stats.body.totals.clicks, 1);
	t.deepEqual(stats.body.breakdowns.platform, [{key: 'android', count: 1}]);
	program.child.kill('SIGTERM');
	t.is(await program.ended, 0);
});
