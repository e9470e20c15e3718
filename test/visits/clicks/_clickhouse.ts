import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {readClickHouseUrl} from '../../../src/platform/config/clickhouse-url.ts';
import {createDb} from '../../../src/platform/db/db.ts';
import {type ClickHouse, createClickHouse} from '../../../src/visits/clicks/clickhouse/clickhouse.ts';
import {type ClickHouseServer, hasClickHouse, startClickHouse} from '../../helpers/clickhouse.ts';
import {createTestDatabase} from '../../helpers/database.ts';
import {startService, type TestService} from '../../helpers/service.ts';

/** The file's ClickHouse, and a service with its clicks there; none where no clickhouse-server is installed. */
export const its = {} as {server: ClickHouseServer; service: TestService};

test.serial.before(async () => {
	if (hasClickHouse) {
		its.server = await startClickHouse();
		its.service = await startService({CLICKS_URL: its.server.url});
	}
});

test.serial.after.always(async () => {
	await its.service?.stop();
	await its.server?.stop();
});

/** `test.serial`, skipped by name where no clickhouse-server is installed. */
export const run = hasClickHouse ? test.serial : (test.serial.skip as unknown as typeof test.serial);

export const storedRows = async (clickHouse: ClickHouse): Promise<number> => {
	const [row] = await clickHouse.select<{count: number}>('SELECT count() AS count FROM clicks FINAL');
	return row?.count ?? 0;
};

/** A database, a folder and ClickHouse for processes of the binary. */
export const stage = async (t: ExecutionContext) => {
	const database = await createTestDatabase();
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-clickhouse-test-'));
	const db = createDb(database.url);
	const clicksUrl = await its.server.database();
	t.teardown(async () => {
		await db.destroy();
		await database.drop();
		await rm(folder, {recursive: true, force: true});
	});
	const env = {DATABASE_URL: database.url, DATA_DIR: folder, LOG_LEVEL: 'error', PORT: '0'};
	return {db, folder, env, clicksUrl, clickHouse: createClickHouse(readClickHouseUrl(clicksUrl))};
};
