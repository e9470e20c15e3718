import test, {type ExecutionContext} from 'ava';
import {readClickHouseUrl} from '../../../src/platform/config/database-url.ts';
import {type ClickHouse, createClickHouse} from '../../../src/visits/click-stores/clickhouse/clickhouse.ts';
import {type ClickHouseServer, hasClickHouse, startClickHouse} from '../../helpers/clickhouse.ts';
import {startService, type TestService} from '../../helpers/service.ts';
import {stage as stageOfProcesses} from './_process.ts';

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

/** The ids of the clicks in ClickHouse. */
export const idsIn = async (clickHouse: ClickHouse): Promise<string[]> =>
	(await clickHouse.select<{id: string}>('SELECT id FROM clicks FINAL')).map(({id}) => id);

/** A database, a folder and ClickHouse for processes of the binary. */
export const stage = async (t: ExecutionContext) => {
	const {env, ...own} = await stageOfProcesses(t);
	const clicksUrl = await its.server.database();
	const clickHouse = createClickHouse(readClickHouseUrl(clicksUrl));
	return {...own, env: {...env, LOG_LEVEL: 'error', PORT: '0'}, clicksUrl, clickHouse};
};
