import type {Organization} from '../../../accounts/organizations/organization-store.ts';
import type {PlanDeps} from '../../../accounts/plans/entitlements.ts';
import {getLink} from '../../../links/links/read-links.ts';
import type {Db} from '../../../platform/db/db.ts';
import {readInSnapshot} from '../../../platform/db/read-snapshot.ts';
import type {ForCaller} from '../../../platform/fair-turns.ts';
import type {Services} from '../../../services.ts';
import {type DimensionName, foldedDimensions, usualDimensions} from '../../clicks/dimensions.ts';
import type {ClickReader} from '../click-store.ts';
import {OTHER} from '../rollups/count-dimensions.ts';
import {postgresReader} from '../rollups/rows-beside-rollups.ts';
import {beginReport, lockedBy} from './begin-report.ts';
import {chooseLinks} from './chosen-links.ts';
import {type Range, readBounds, type Scope, type StatsQuery} from './stats-bounds.ts';
import type {Stats} from './stats-query.ts';
import {type Counts, type DimensionCount, type ListLimits, readCounts} from './stats-store.ts';

type Count = {key: string | null; count: number};

/**
 * The lengths of lists (contract/reports 1): of the usual breakdowns, and of those that a query names, which add up to
 * the total.
 */
const USUAL: ListLimits = {top: 20, folded: []};
const NAMED: ListLimits = {top: 500, folded: foldedDimensions};

/** Whether a list must add up to the total of clicks: `matchMethod` counts matches instead. */
const addsUp =
	({folded}: ListLimits) =>
	(name: DimensionName): boolean =>
		folded.includes(name) && name !== 'matchMethod';

const NOTHING = {clicks: 0, matches: 0, events: 0};

const totalOf = (rows: Counts[], name: keyof Counts): number => rows.reduce((sum, row) => sum + row[name], 0);

/**
 * The breakdowns with the clicks that no row of a list counts added to `other`, so the list adds up to the total. Such
 * clicks were deleted, and lie outside the hours whose breakdowns are kept: a time zone may cut those hours. A report
 * of some links lists only the clicks that still exist.
 */
const withRest = (
	{series, breakdowns}: Awaited<ReturnType<typeof readCounts>>,
	{linkIds}: Scope,
	names: readonly DimensionName[],
): DimensionCount[] => {
	const total = totalOf(series, 'clicks');
	return names.reduce((rows, dimension) => {
		const rest = total - rows.reduce((sum, row) => sum + (row.dimension === dimension ? row.count : 0), 0);
		if (linkIds !== null || rest <= 0) {
			return rows;
		}

		const isOther = (row: DimensionCount): boolean => row.dimension === dimension && row.key === OTHER;
		const other = rows.find(isOther)?.count ?? 0;
		return [...rows.filter((row) => !isOther(row)), {dimension, key: OTHER, count: other + rest}];
	}, breakdowns);
};

const listOf = (rows: DimensionCount[], wanted: DimensionName, {top, folded}: ListLimits): Count[] =>
	rows
		.filter(({dimension}) => dimension === wanted)
		.map(({key, count}) => ({key, count}))
		.toSorted((a, b) => b.count - a.count || String(a.key).localeCompare(String(b.key)))
		.slice(0, folded.includes(wanted) ? undefined : top);

/**
 * Current clicks, matches and events of an organization, or of one of its links. The rollups, and the rows beside them,
 * are read from one snapshot (docs/internals.md).
 * @throws 400.
 */
export const readStats = async (
	db: Db,
	scope: Scope,
	query: StatsQuery,
	now: Date,
	clicks: ClickReader = postgresReader,
	hungUp: AbortSignal = new AbortController().signal,
): Promise<Stats> => {
	const {range, starts} = await readBounds(db, query, now);
	const by = query.by ?? usualDimensions;
	const limits = query.by === undefined ? USUAL : NAMED;
	const read = async (trx: Db) => {
		const coverage = await beginReport(trx, scope, range);
		return {coverage, counts: await readCounts(trx, scope, range, {...query, ...limits, by}, coverage, clicks)};
	};
	const {coverage, counts} = await clicks.inTurn(() => readInSnapshot(db, {hungUp, locked: lockedBy(scope)}, read));
	const {series} = counts;
	const breakdowns = withRest(counts, scope, by.filter(addsUp(limits)));
	const {breakdownsSince} = coverage;
	const at = new Map(series.map((row) => [row.start, row]));
	return {
		...range,
		interval: query.interval,
		totals: {
			clicks: totalOf(series, 'clicks'),
			crawlerViews: totalOf(series, 'crawlerViews'),
			matches: totalOf(series, 'matches'),
			events: totalOf(series, 'events'),
		},
		series: starts.map((start) => {
			const {clicks, matches, events} = at.get(start.getTime()) ?? NOTHING;
			return {start, clicks, matches, events};
		}),
		breakdowns: Object.fromEntries(by.map((dimension) => [dimension, listOf(breakdowns, dimension, limits)])),
		...(breakdownsSince === null ? {} : {breakdownsSince}),
	};
};

/**
 * People's clicks of a range, in all and by one dimension, unordered. In a transaction that sees one state of the
 * database.
 */
export const countByDimension = async (
	trx: Db,
	scope: Scope,
	range: Range,
	by: DimensionName,
	clicks: ClickReader,
): Promise<{total: number; counts: Count[]; since: Date | null}> => {
	const wanted = {interval: 'month', timezone: 'UTC', by: [by], ...NAMED} as const;
	const coverage = await beginReport(trx, scope, range);
	const counts = await readCounts(trx, scope, range, wanted, coverage, clicks);
	return {
		total: totalOf(counts.series, 'clicks'),
		counts: withRest(counts, scope, wanted.by.filter(addsUp(NAMED))),
		since: coverage.breakdownsSince,
	};
};

/** As `readStats`, including all clicks that this process has already answered, for the links that the query's filters choose. */
export const readCurrentStats = async (
	services: Pick<Services, 'clickJournal' | 'clicks' | 'clock' | 'db' | 'longReads'>,
	{linkId, ...caller}: ForCaller & {linkId: string | null},
	query: StatsQuery,
): Promise<Stats> => {
	const {organizationId, hungUp} = caller;
	await services.clickJournal.flushed({containing: [organizationId]});
	const clicks = await services.clicks.reader(organizationId);
	const linkIds = await chooseLinks(services.db, {organizationId, linkId}, query);
	const read = () => readStats(services.db, {organizationId, linkIds}, query, services.clock.now(), clicks, hungUp);
	return linkIds === null ? read() : services.longReads.reports.run(caller, read);
};

/** As `readCurrentStats`, for one link. @throws 404 if the organization has no such link. */
export const readLinkStats = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'clickJournal' | 'clicks' | 'db' | 'linkPolicy' | 'longReads'>,
	{organization, id, query, hungUp}: {organization: Organization; id: string; query: StatsQuery; hungUp: AbortSignal},
): Promise<Stats> => {
	await getLink(services, {organization, id});
	return readCurrentStats(services, {organizationId: organization.id, linkId: id, hungUp}, query);
};
