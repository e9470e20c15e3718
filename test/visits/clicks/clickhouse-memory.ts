import {createServer} from 'node:http';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import test from 'ava';
import {readClickHouseUrl} from '../../../src/platform/config/database-url.ts';
import {createClickHouse} from '../../../src/visits/click-stores/clickhouse/clickhouse.ts';
import {listening} from './_process.ts';

const MEGABYTE = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('an insert of any length keeps nothing of what it has sent', async (t) => {
	const port = await listening(
		t,
		createServer((request, response) => request.resume().on('end', () => response.end())),
	);
	const clickHouse = createClickHouse(readClickHouseUrl(`clickhouse://oplink:secret@127.0.0.1:${port}/oplink`));
	let kept = 0;
	const rows = async function* () {
		for (let sent = 1; sent <= 256; sent += 1) {
			yield Buffer.alloc(MEGABYTE);
			if (sent % 32 === 0) {
				collectGarbage();
				kept = process.memoryUsage().arrayBuffers;
			}
		}
	};
	await clickHouse.insert('clicks', rows());
	// Some are on their way, and some are released a moment after they were found to be garbage.
	t.true(kept < 128 * MEGABYTE, `${Math.round(kept / MEGABYTE)} MB`);
});
