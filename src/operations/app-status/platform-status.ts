import type {MissReason} from '../../visits/matches/guess.ts';
import type {Configured, Platform, RequestCount} from './app-status-store.ts';

/** Everything that was read. */
export type Observed = {configured: Configured; counts: RequestCount[]};

type Seen = {count: number; lastAt: Date};

export const sum = (rows: ReadonlyArray<{count: number}>): number => rows.reduce((total, {count}) => total + count, 0);

const seen = (rows: readonly Seen[]) => ({
	count: sum(rows),
	lastAt: rows.reduce<Date | null>((max, {lastAt}) => (max === null || lastAt > max ? lastAt : max), null),
});

/** Rows of one key together, most first. */
const grouped = <Row extends Seen, Key extends string>(rows: readonly Row[], keyOf: (row: Row) => Key) =>
	[...new Set(rows.map(keyOf))]
		.map((key) => {
			const members = rows.filter((row) => keyOf(row) === key);
			return {key, members, ...seen(members)};
		})
		.toSorted((a, b) => b.count - a.count);

/** A version that a session does not send is in no list. */
const versionsOf = (rows: readonly RequestCount[]) =>
	grouped(
		rows.filter(({detail}) => detail !== ''),
		({detail}) => detail,
	).map(({key, count, lastAt}) => ({version: key, count, lastAt}));

type FirstOpen = [hasToken: boolean, outcome: 'token' | 'guess' | MissReason, version: string | null];

export const firstOpensOf = (counts: readonly RequestCount[]) => {
	const opens = counts
		.filter(({kind}) => kind === 'first_open')
		.map(({detail, count, lastAt}) => {
			const [hasToken, outcome, version] = JSON.parse(detail) as FirstOpen;
			return {hasToken, outcome, version: version ?? 'unknown', count, lastAt};
		});
	const misses = opens.flatMap(({outcome, ...open}) =>
		outcome === 'token' || outcome === 'guess' ? [] : [{...open, reason: outcome}],
	);
	return {
		...seen(opens),
		withToken: sum(opens.filter(({hasToken}) => hasToken)),
		guesses: sum(opens.filter(({outcome}) => outcome === 'guess')),
		misses: sum(misses),
		byReason: grouped(misses, ({reason}) => reason).map(({key, count}) => ({reason: key, count})),
		byAppVersion: grouped(opens, ({version}) => version).map(({key, count, members}) => ({
			version: key,
			count,
			withToken: sum(members.filter(({hasToken}) => hasToken)),
		})),
	};
};

/** The requests of a platform. */
export const platformStatus = <P extends Platform>(platform: P, counts: readonly RequestCount[]) => {
	const own = counts.filter((row) => row.platform === platform);
	const of = (kind: RequestCount['kind']) => own.filter((row) => row.kind === kind);
	return {
		platform,
		lastSeenAt: seen(own).lastAt,
		sessions: {...seen(of('session')), appVersions: versionsOf(of('session')), sdkVersions: versionsOf(of('sdk'))},
		data: {...seen(of('data')), notFound: sum(of('data_not_found'))},
		firstOpens: firstOpensOf(own),
		events: {...seen(of('event')), unknownDevice: sum(of('unknown_device'))},
		refusals: grouped(of('limit'), ({detail}) => detail).map(({key, count, lastAt}) => ({limit: key, count, lastAt})),
	};
};
export type PlatformStatus = ReturnType<typeof platformStatus<'ios' | 'android'>>;

/** Requests whose platform is unknown. */
export const unknownOf = (counts: readonly RequestCount[]) => {
	const {sessions, data, firstOpens, events, refusals} = platformStatus('unknown', counts);
	return {
		sessions: sessions.count,
		data: data.count,
		firstOpens: firstOpens.count,
		events: events.count,
		unknownDevice: events.unknownDevice,
		refusals: sum(refusals),
	};
};

/** The configured platforms, and those that send without being configured. */
export const platformsOf = ({configured, counts}: Observed) =>
	(['ios', 'android'] as const).filter(
		(platform) =>
			configured.platforms.includes(platform) ||
			counts.some((row) => row.platform === platform && (row.kind === 'session' || row.kind === 'first_open')),
	);
