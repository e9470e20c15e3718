import {chmod, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {packageRoot} from '../../src/package-root.ts';
import {createTeardown, type Teardown} from '../setup/teardown.ts';
import {countFaults, gapSince, pagesSince} from './_assess.ts';
import type {Node} from './_postgres.ts';
import {findPrograms, versionOf} from './_programs.ts';

// Read where the helpers are loaded.
process.env['TEST_BINARY'] ??= path.join(packageRoot, 'bin/oplink.js');
const {startProcess} = await import('../clicks/_process.ts');
const {startCluster, startSentinels} = await import('../helpers/redis-groups.ts');
const {startLoad} = await import('./_load.ts');
const {createStarter, PATRONI, startPostgres, until} = await import('./_postgres.ts');

/** How long the load runs before and after what happens. */
const STEADY_MS = 6000;
/** Within how long of the new primary writes must be acknowledged again: HAProxy's checks, reconnecting, promises. */
const BACK_SECONDS = 6;

type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** What the round under way has started. */
let current: Teardown | null = null;

const faults: string[] = [];
const say = (text: string) => console.log(text);
const require = (what: string, isTrue: boolean) => {
	if (!isTrue) {
		faults.push(what);
		say(`  ✘ ${what}`);
	}
};

/** A second Redis server under each of both kinds, and how one of them dies. */
const redisOf = {
	Sentinel: async (t: ExecutionContext) => {
		const {url, primary} = await startSentinels(t);
		return {url, kill: () => primary.child.kill('SIGKILL')};
	},
	Cluster: async (t: ExecutionContext) => {
		const {url, primaryOf} = await startCluster(t);
		const victim = await primaryOf('oplink:machines');
		return {url, kill: () => victim.child.kill('SIGKILL')};
	},
};

const rounds = [
	{name: 'the primary is killed with kill -9', redis: 'Sentinel', hit: 'kill', heal: 'restart'},
	{name: 'the primary is cut off', redis: 'Cluster', hit: 'cutOff', heal: 'mend'},
] as const;

/** Seconds until another node is primary. */
const untilPromoted = async (postgres: Postgres, former: Node): Promise<number> => {
	const began = performance.now();
	await until('another node is primary', async () => {
		const now = await postgres.primaryNow();
		return now !== null && now !== former;
	});
	return (performance.now() - began) / 1000;
};

const play = async (
	{name, redis, hit, heal}: (typeof rounds)[number],
	{postgres, folder, database}: {postgres: Postgres; folder: string; database: string},
): Promise<void> => {
	say(`\n${name}, Redis under ${redis}`);
	const own = createTeardown();
	current = own;
	const t = {teardown: own.add} as unknown as ExecutionContext;
	try {
		const shared = await redisOf[redis](t);
		const log = {lost: 0, errors: new Set<string>()};
		const onLog = (line: string) => {
			log.lost += Number(line.includes('lost the change feed'));
			if (/"level":"(?:error|fatal)"/.test(line)) {
				log.errors.add(String(JSON.parse(line).err?.message ?? line));
			}
		};
		const at = (url: string) => url.replace(/\/postgres$/, `/${database}`);
		const direct = at(postgres.primaryUrl);
		const env = {REDIS_URL: shared.url, LOG_FORMAT: 'json'};
		const one = await startProcess(
			t,
			{...env, DATABASE_URL: direct, DATA_DIR: path.join(folder, `${database}-1`)},
			onLog,
		);
		const pooled = {DATABASE_URL: at(postgres.poolerUrl), DATABASE_LISTEN_URL: direct};
		const other = await startProcess(t, {...env, ...pooled, DATA_DIR: path.join(folder, `${database}-2`)}, onLog);
		const load = await startLoad([one, other]);
		await delay(STEADY_MS);
		if (!load.isWell()) {
			await load.stop();
		}

		const former = await postgres.primaryNow();
		if (former === null) {
			throw new Error('there is no primary');
		}

		const hitAt = performance.now();
		postgres[hit](former);
		const promoted = await untilPromoted(postgres, former);
		await until('a standby of the new primary is synchronous', () => postgres.canWrite(former));
		const writable = (performance.now() - hitAt) / 1000;
		await delay(STEADY_MS);
		postgres[heal](former);
		await postgres.untilWhole();
		const healed = (performance.now() - hitAt) / 1000;
		shared.kill();
		const redisAt = performance.now();
		await delay(STEADY_MS);
		await load.stop();
		for (const {child, ended} of [one, other]) {
			child.kill('SIGTERM');
			await ended;
			require('each process stops with exit code 0', child.exitCode === 0);
		}

		const {observed} = load;
		say(
			`  another primary after ${promoted.toFixed(1)} s, with a synchronous standby after ${writable.toFixed(1)} s, all three nodes again after ${healed.toFixed(1)} s`,
		);
		for (const kind of ['creates', 'updates', 'events', 'matches'] as const) {
			const gap = gapSince(observed, kind, hitAt);
			const all = observed.writes[kind];
			const refused = all.filter(({status}) => status >= 500 || status === 0).length;
			say(`  ${kind}: ${all.length - refused} acknowledged, ${refused} refused (503); none for ${gap.toFixed(1)} s`);
			require(`${kind} again within ${BACK_SECONDS} s of the failover`, gap < writable + BACK_SECONDS);
			require(`${kind} are refused with 503 only`, all.every(({status}) => status < 500 || status === 503));
		}

		const before = pagesSince({...observed, pages: observed.pages.filter(({at}) => at < hitAt)}, 0);
		const since = pagesSince(observed, hitAt);
		const ofRedis = pagesSince(observed, redisAt);
		say(
			`  pages of known links before: ${before.answered}, median ${before.median} ms, p99 ${before.p99} ms, longest ${before.longest} ms`,
		);
		say(
			`  since the failure: ${since.answered} answered, ${since.refused} refused, median ${since.median} ms, p99 ${since.p99} ms, longest ${since.longest} ms`,
		);
		say(`  of them since a Redis was killed: ${ofRedis.answered} answered, longest ${ofRedis.longest} ms`);
		require('pages of known links are answered throughout', since.refused === 0 && before.refused === 0);
		const found = await countFaults(direct, observed);
		say(
			`  acknowledged: ${observed.tokens.length} clicks, ${observed.links.size} links, ${observed.events.length} events, ${observed.matched.length} matches (and ${observed.unknownMatches} whose first answer did not come); ${observed.reads} reads of a changing link`,
		);
		say(
			`  ${Object.entries(found)
				.map(([what, count]) => `${count} ${what}`)
				.join(', ')}`,
		);
		for (const [what, count] of Object.entries(found)) {
			require(`no ${what}`, count === 0);
		}

		say(`  the change feed was lost ${log.lost} times; errors in the log: ${[...log.errors].join('; ') || 'none'}`);
	} finally {
		await own.run();
	}
};

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
	say(`${['postgres', 'etcd', 'pgbouncer'].map((name) => versionOf(programs[name as 'postgres'])).join(', ')}`);
	say(
		`Patroni with ttl ${PATRONI.ttl}, loop_wait ${PATRONI.loop_wait}, retry_timeout ${PATRONI.retry_timeout}, synchronous_mode_strict`,
	);
	const postgres = await startPostgres(await createStarter(folder, teardown), programs, teardown);
	for (const [index, round] of rounds.entries()) {
		if (process.argv[2] !== undefined && process.argv[2] !== String(index + 1)) {
			continue;
		}

		await postgres.untilWhole();
		const database = `round_${index + 1}`;
		await postgres.createDatabase(database);
		await play(round, {postgres, folder, database});
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
