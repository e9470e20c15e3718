import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {ExecutionContext} from 'ava';
import {startCluster, startSentinels} from '../helpers/redis-groups.ts';
import {type Process, startProcess} from '../visits/clicks/_process.ts';
import {countFaults, gapSince, pagesSince} from './_assess.ts';
import {require, requireNone, say} from './_judge.ts';
import {type Observed, startLoad} from './_load.ts';
import {type startPostgres, until} from './_postgres.ts';

/** How long the load runs before and after what happens. */
export const STEADY_MS = 6000;
/** Within how long of the new primary writes must be acknowledged again: HAProxy's checks, reconnecting, promises. */
const BACK_SECONDS = 6;

type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** Where a round happens: a database of its own, by both ways to it, and a folder for journals. */
export type Stage = {postgres: Postgres; urlOf: {primary: string; pooler: string}; folder: string};

/** Stops processes, each of which must end well. */
export const stopAll = async (processes: readonly Process[]): Promise<void> => {
	for (const {child, stop} of processes) {
		await stop();
		require('each process stops with exit code 0', child.exitCode === 0);
	}
};

/** Says how many of what was acknowledged. */
export const sayAcknowledged = ({tokens, links, events, matched, unknownMatches}: Observed, more: string): void =>
	say(
		`  acknowledged: ${tokens.length} clicks, ${links.size} links, ${events.length} events, ${matched.length} matches (and ${unknownMatches} whose first answer did not come); ${more}`,
	);

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

export const failovers = [
	{name: 'the primary is killed with kill -9', redis: 'Sentinel', hit: 'kill', heal: 'restart'},
	{name: 'the primary is cut off', redis: 'Cluster', hit: 'cutOff', heal: 'mend'},
] as const;

export const playFailover = async (
	{name, redis, hit, heal}: (typeof failovers)[number],
	{postgres, urlOf, folder}: Stage,
	t: ExecutionContext,
): Promise<void> => {
	say(`\n${name}, Redis under ${redis}`);
	const shared = await redisOf[redis](t);
	const log = {lost: 0, errors: new Set<string>()};
	const onLog = (line: string) => {
		log.lost += Number(line.includes('lost the change feed'));
		if (/"level":"(?:error|fatal)"/.test(line)) {
			log.errors.add(String(JSON.parse(line).err?.message ?? line));
		}
	};
	const env = {REDIS_URL: shared.url, LOG_FORMAT: 'json'};
	const direct = {DATABASE_URL: urlOf.primary, DATA_DIR: path.join(folder, 'one')};
	const pooled = {DATABASE_URL: urlOf.pooler, DATABASE_LISTEN_URL: urlOf.primary, DATA_DIR: path.join(folder, 'two')};
	const one = await startProcess(t, {...env, ...direct}, onLog);
	const other = await startProcess(t, {...env, ...pooled}, onLog);
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
	await until('another node is primary', async () => ![null, former].includes(await postgres.primaryNow()));
	const promoted = (performance.now() - hitAt) / 1000;
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
	await stopAll([one, other]);
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
	for (const [when, {answered, refused, median, p99, longest}] of Object.entries({
		'before it': before,
		'since the failure': since,
		'since a Redis was killed': ofRedis,
	})) {
		const times = `median ${median} ms, p99 ${p99} ms, longest ${longest} ms`;
		say(`  pages of known links ${when}: ${answered} answered, ${refused} refused, ${times}`);
	}

	require('pages of known links are answered throughout', since.refused === 0 && before.refused === 0);
	sayAcknowledged(observed, `${observed.reads} reads of a changing link`);
	requireNone(await countFaults(urlOf.primary, observed));
	say(`  the change feed was lost ${log.lost} times; errors in the log: ${[...log.errors].join('; ') || 'none'}`);
};
