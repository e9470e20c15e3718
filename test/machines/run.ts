import {chmod, mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {createTeardown, type Teardown} from '../setup/teardown.ts';
import {faults, say} from './_judge.ts';
import {findPrograms, versionOf} from './_programs.ts';

// Read where the helpers are loaded.
process.env['TEST_BINARY'] ??= path.join(packageRoot, 'bin/oplink.js');
const {hasClickHouse} = await import('../helpers/clickhouse.ts');
const {failovers, playFailover} = await import('./_failover.ts');
const {playClickHouse} = await import('./_clickhouse.ts');
const {createStarter, PATRONI, startPostgres} = await import('./_postgres.ts');

type Given = Parameters<typeof playClickHouse>;

const skipClickHouse = async () =>
	say('\nskipped, raw clicks in ClickHouse: there is no clickhouse-server (apt-get install -y clickhouse-server)');

const rounds: ReadonlyArray<(...given: Given) => Promise<void>> = [
	...failovers.map(
		(failover) =>
			(...given: Given) =>
				playFailover(failover, ...given),
	),
	hasClickHouse ? playClickHouse : skipClickHouse,
];

/** What the round under way has started. */
let current: Teardown | null = null;

const run = async (teardown: Teardown): Promise<void> => {
	const found = findPrograms();
	if ('missing' in found) {
		say(`skipped: this machine has no ${found.missing.join(', ')} (apt-get install -y ${found.missing.join(' ')})`);
		return;
	}

	const {programs} = found;
	const folder = await mkdtemp(path.join(tmpdir(), 'oplink-machines-'));
	teardown.add(() => rm(folder, {recursive: true, force: true}));
	await chmod(folder, 0o755);
	say([programs.postgres, programs.etcd, programs.pgbouncer].map(versionOf).join(', '));
	const times = Object.entries(PATRONI).map(([name, seconds]) => `${name} ${seconds}`);
	say(`Patroni with ${times.join(', ')}, synchronous_mode_strict`);
	const postgres = await startPostgres(await createStarter(folder, teardown), programs, teardown);
	for (const [index, play] of rounds.entries()) {
		if (process.argv[2] !== undefined && process.argv[2] !== String(index + 1)) {
			continue;
		}

		await postgres.untilWhole();
		const name = `round_${index + 1}`;
		await postgres.createDatabase(name);
		const at = (url: string): string => url.replace(/\/postgres$/, `/${name}`);
		const stage = {
			postgres,
			urlOf: {primary: at(postgres.primaryUrl), pooler: at(postgres.poolerUrl)},
			folder: path.join(folder, name),
		};
		await mkdir(stage.folder);
		const own = createTeardown();
		current = own;
		try {
			await play(stage, {teardown: own.add} as unknown as ExecutionContext);
		} finally {
			await own.run();
		}
	}
};

const teardown = createTeardown();
for (const name of ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection']) {
	process.once(name, async (cause: unknown) => {
		console.error(cause);
		await current?.run();
		await teardown.run();
		process.exit(1);
	});
}

try {
	await run(teardown);
} catch (error) {
	faults.push((error as Error).message);
	console.error(error);
} finally {
	await teardown.run();
}

say(faults.length === 0 ? '\npassed' : `\nfailed: ${faults.join('; ')}`);
process.exit(faults.length === 0 ? 0 : 1);
