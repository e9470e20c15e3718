import type {Organization} from '../../../accounts/organizations/organization-store.ts';
import type {PlanDeps} from '../../../accounts/plans/entitlements.ts';
import {getLink} from '../../../links/links/read-links.ts';
import type {Db} from '../../../platform/db/db.ts';
import type {Services} from '../../../services.ts';
import type {ClickReader} from '../click-store.ts';
import {postgresReader} from '../rollups/uncounted.ts';
import {type Interval, readBounds, type Scope, type StatsQuery} from './stats-bounds.ts';
import {coverBreakdowns, coverQuarters, partialDays} from './stats-cover.ts';
import {type Counts, type DimensionCount, readBreakdowns, readRolled, readSeries} from './stats-store.ts';

const dimensions = ['platform', 'country', 'channel', 'referrer', 'link', 'matchMethod'] as const;

type Count = {key: string | null; count: number};
export type Stats = {
	from: Date;
	to: Date;
	interval: Interval;
	totals: Counts;
	series: Array<{start: Date; clicks: number; matches: number; events: number}>;
	breakdowns: Record<(typeof dimensions)[number], Count[]>;
};

/** Longest list of a breakdown. */
const TOP = 20;

const NOTHING = {clicks: 0, matches: 0, events: 0};

const totalOf = (rows: Counts[], name: keyof Counts): number => rows.reduce((sum, row) => sum + row[name], 0);

const listOf = (rows: DimensionCount[], wanted: string): Count[] =>
	rows
		.filter(({dimension}) => dimension === wanted)
		.map(({key, count}) => ({key, count}))
		.toSorted((a, b) => b.count - a.count || String(a.key).localeCompare(String(b.key)))
		.slice(0, TOP);

/**
 * Current clicks, matches and events of an organization, or of one of its links. The rollups and the counted rest are
 * read from one snapshot (docs/internals.md).
 * @throws 400.
 */
export const readStats = async (
	db: Db,
	scope: Scope,
	query: StatsQuery,
	now: Date,
	clicks: ClickReader = postgresReader,
): Promise<Stats> => {
	const {range, starts} = await readBounds(db, query, now);
	const read = async (trx: Db) => {
		// One link has few enough rows to count.
		const rolled = scope.linkId === null ? await readRolled(trx, scope.organizationId, partialDays(range)) : null;
		const nothing = {from: range.from, to: range.from, pieces: []};
		const quarters = rolled === null ? nothing : coverQuarters(range);
		const spans = rolled === null ? nothing : coverBreakdowns(range, rolled.daysWithHours);
		return {
			counts: await readSeries(trx, scope, {...range, cover: quarters}, query, rolled, clicks),
			breakdowns: await readBreakdowns(trx, scope, {...range, cover: spans}, TOP, rolled, clicks),
		};
	};
	const {counts, breakdowns} = await clicks.inTurn(() =>
		db.transaction(read, {isolationLevel: 'repeatable read', readOnly: true}),
	);
	const at = new Map(counts.map((row) => [row.start.getTime(), row]));
	return {
		...range,
		interval: query.interval,
		totals: {
			clicks: totalOf(counts, 'clicks'),
			crawlerViews: totalOf(counts, 'crawlerViews'),
			matches: totalOf(counts, 'matches'),
			events: totalOf(counts, 'events'),
		},
		series: starts.map((start) => {
			const {clicks, matches, events} = at.get(start.getTime()) ?? NOTHING;
			return {start, clicks, matches, events};
		}),
		breakdowns: Object.fromEntries(
			dimensions.map((dimension) => [dimension, listOf(breakdowns, dimension)]),
		) as Stats['breakdowns'],
	};
};

/** The same, including all clicks that this process has already answered. */
export const readCurrentStats = async (
	services: Pick<Services, 'clickJournal' | 'clicks' | 'clock' | 'db'>,
	scope: Scope,
	query: StatsQuery,
): Promise<Stats> => {
	await services.clickJournal.flushed({mentioned: [scope.organizationId]});
	const clicks = await services.clicks.reader(scope.organizationId);
	return readStats(services.db, scope, query, services.clock.now(), clicks);
};

/** The same of one link. @throws 404 if the organization has no such link. */
export const readLinkStats = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'clickJournal' | 'clicks' | 'db'>,
	{organization, id, query}: {organization: Organization; id: string; query: StatsQuery},
): Promise<Stats> => {
	await getLink(services, {organization, id});
	return readCurrentStats(services, {organizationId: organization.id, linkId: id}, query);
};
