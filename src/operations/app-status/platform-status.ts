import type {MissReason} from '../../visits/matches/guess.ts';
import type {Configured, Counted, FirstOpens, Platform} from './app-status-store.ts';

type Seen = {count: number; lastAt: Date | null};
type Version = {version: string; count: number; lastAt: Date | null};

/** What was seen of an app's platform. */
export type PlatformStatus = {
	platform: 'ios' | 'android';
	lastSeenAt: Date | null;
	sessions: Seen & {appVersions: Version[]; sdkVersions: Version[]};
	data: Seen & {notFound: number};
	firstOpens: Seen & {
		withToken: number;
		guesses: number;
		misses: number;
		byReason: Array<{reason: MissReason; count: number}>;
		/** `unknown`: of devices without a session. */
		byAppVersion: Array<{version: string; count: number; withToken: number}>;
	};
	events: Seen & {unknownDevice: number};
	refusals: Array<Seen & {limit: string}>;
};

/** Everything that was read. */
export type Observed = {configured: Configured; counts: Counted[]; opens: FirstOpens[]};

const sum = (rows: ReadonlyArray<{count: number}>): number => rows.reduce((total, {count}) => total + count, 0);

const latest = (rows: ReadonlyArray<{lastAt: Date | null}>): Date | null =>
	rows.reduce<Date | null>((max, {lastAt}) => (max === null || (lastAt !== null && lastAt > max) ? lastAt : max), null);

const seen = (rows: ReadonlyArray<Seen>): Seen => ({count: sum(rows), lastAt: latest(rows)});

/** Rows of one key together, most first. */
const grouped = <Row extends Seen, Key extends string>(rows: readonly Row[], keyOf: (row: Row) => Key | null) => {
	const groups = new Map<Key, Row[]>();
	for (const row of rows) {
		const key = keyOf(row);
		if (key !== null) {
			groups.set(key, [...(groups.get(key) ?? []), row]);
		}
	}

	return [...groups].map(([key, members]) => ({key, members, ...seen(members)})).toSorted((a, b) => b.count - a.count);
};

const versionsOf = (rows: readonly Counted[]): Version[] =>
	grouped(rows, ({detail}) => detail || null).map(({key, count, lastAt}) => ({version: key, count, lastAt}));

const MATCHED: ReadonlySet<string> = new Set(['token', 'guess']);

const firstOpensOf = (opens: readonly FirstOpens[]): PlatformStatus['firstOpens'] => ({
	...seen(opens),
	withToken: sum(opens.filter(({hasToken}) => hasToken)),
	guesses: sum(opens.filter(({outcome}) => outcome === 'guess')),
	misses: sum(opens.filter(({outcome}) => !MATCHED.has(outcome))),
	byReason: grouped(opens, ({outcome}) => (outcome === 'token' || outcome === 'guess' ? null : outcome)).map(
		({key, count}) => ({reason: key, count}),
	),
	byAppVersion: grouped(opens, ({version}) => version ?? 'unknown').map(({key, count, members}) => ({
		version: key,
		count,
		withToken: sum(members.filter(({hasToken}) => hasToken)),
	})),
});

/** What was seen of a platform. */
export const platformStatus = (platform: 'ios' | 'android', {counts, opens}: Observed): PlatformStatus => {
	const own = counts.filter((row) => row.platform === platform);
	const of = (kind: Counted['kind']) => own.filter((row) => row.kind === kind);
	const firstOpens = opens.filter((row) => row.platform === platform);
	return {
		platform,
		lastSeenAt: latest([...own, ...firstOpens]),
		sessions: {...seen(of('session')), appVersions: versionsOf(of('session')), sdkVersions: versionsOf(of('sdk'))},
		data: {...seen(of('data')), notFound: sum(of('data_not_found'))},
		firstOpens: firstOpensOf(firstOpens),
		events: {...seen(of('event')), unknownDevice: sum(of('unknown_device'))},
		refusals: grouped(of('limit'), ({detail}) => detail).map(({key, count, lastAt}) => ({limit: key, count, lastAt})),
	};
};

/** Requests whose platform is unknown. */
export type UnknownRequests = Record<
	'sessions' | 'data' | 'firstOpens' | 'events' | 'unknownDevice' | 'refusals',
	number
>;

export const unknownOf = ({counts, opens}: Observed): UnknownRequests => {
	const isUnknown = ({platform}: {platform: Platform}) => platform === 'unknown';
	const of = (kind: Counted['kind']) => sum(counts.filter((row) => isUnknown(row) && row.kind === kind));
	return {
		sessions: of('session'),
		data: of('data'),
		firstOpens: sum(opens.filter(isUnknown)),
		events: of('event'),
		unknownDevice: of('unknown_device'),
		refusals: of('limit'),
	};
};

/** The configured platforms, and those that send without being configured. */
export const platformsOf = ({configured, counts, opens}: Observed): Array<'ios' | 'android'> =>
	(['ios', 'android'] as const).filter(
		(platform) =>
			configured.platforms.includes(platform) ||
			opens.some((row) => row.platform === platform) ||
			counts.some((row) => row.platform === platform && row.kind === 'session'),
	);
