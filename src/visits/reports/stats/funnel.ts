import type {Db} from '../../../platform/db/db.ts';
import {readInSnapshot} from '../../../platform/db/read-snapshot.ts';
import {literal, run, type Sql, sql} from '../../../platform/db/sql.ts';
import type {ForCaller} from '../../../platform/fair-turns.ts';
import type {Services} from '../../../services.ts';
import {type DimensionName, foldedDimensions} from '../../clicks/dimensions.ts';
import {OTHER} from '../rollups/count-dimensions.ts';
import {lockedBy} from './begin-report.ts';
import {chooseLinks, labelledLinks} from './chosen-links.ts';
import {countByDimension} from './stats.ts';
import {type Range, readBounds, type Scope} from './stats-bounds.ts';
import type {Funnel, FunnelQuery} from './stats-query.ts';

type Row = Funnel['rows'][number];

/** Maximum values of an answer by name, those with the most clicks. */
const MAX_ROWS = 500;

const ofLinks = ({linkIds}: Scope, column: Sql): Sql =>
	linkIds === null ? sql`` : sql`AND ${column} = ANY (${linkIds}::uuid[])`;

/** Matches with the values that they can be counted by. */
const matchesOf = (scope: Scope, {from, to}: Range): Sql =>
	sql`SELECT link_id, CAST(NULL AS text) AS device_id, CAST(NULL AS numeric) AS value,
		lower(signals ->> 'platform') AS platform, attribution
	FROM match_attempts
	WHERE organization_id = ${scope.organizationId} AND matched AND at >= ${from} AND at < ${to}
		${ofLinks(scope, sql`link_id`)}`;

/** Events that come from a link, with the values that they can be counted by. */
const eventsOf = (scope: Scope, {from, to}: Range, {event, property}: FunnelQuery): Sql => {
	const own = sql`properties -> ${property}`;
	const value = sql`CASE WHEN jsonb_typeof(${own}) = 'number' THEN CAST(${own} AS numeric) END`;
	return sql`SELECT events.attributed_link_id AS link_id, events.device_id,
		${property === null ? sql`CAST(NULL AS numeric)` : value} AS value, lower(devices.platform) AS platform, attribution
	FROM events
	LEFT JOIN devices ON devices.organization_id = events.organization_id AND devices.device_id = events.device_id
	WHERE events.organization_id = ${scope.organizationId} AND events.occurred_at >= ${from} AND events.occurred_at < ${to}
		${event === null ? sql`` : sql`AND events.event_name = ${event}`}
		AND events.attributed_link_id IS NOT NULL ${ofLinks(scope, sql`events.attributed_link_id`)}`;
};

/** The value that a row is counted by: tags are those of its link, the rest was noted with the row. */
const keyOf = (by: DimensionName): Sql => {
	switch (by) {
		case 'link':
			return sql`CAST(counted.link_id AS text)`;
		case 'platform':
			return sql`counted.platform`;
		case 'tag':
			return sql`tag`;
		default:
			return sql`counted.attribution ->> ${literal(by)}`;
	}
};

/** `sum` is a text: adding PostgreSQL's `numeric` as doubles fails beyond the largest one. */
type StepCount = {key: string | null; rows: number; devices: number; sum: string | null};

/** JSON has no Infinity: a sum beyond the numbers of JSON is the nearest one. */
const sumOf = (text: string | null | undefined): number =>
	Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(text ?? 0)));

/**
 * The rows of a statement by their key; a grouping of all has no key and `isTotal`.
 * @param names null: all; of others the key is `other`. A device that has several of those is one of `other`.
 */
const countRows = async (
	db: Db,
	rows: Sql,
	{organizationId, by, names}: {organizationId: string; by: DimensionName; names: string[] | null},
): Promise<{total: StepCount | undefined; counts: StepCount[]}> => {
	const value = keyOf(by);
	const key =
		names === null ? value : sql`CASE WHEN NOT ${value} = ANY(${names}) THEN ${literal(OTHER)} ELSE ${value} END`;
	const tags =
		by === 'tag'
			? sql`LEFT JOIN ${labelledLinks(organizationId)} AS links ON links.id = counted.link_id
				LEFT JOIN LATERAL unnest(links.tags) WITH ORDINALITY AS tags (tag, place) ON true`
			: sql``;
	const counts = await run<StepCount & {isTotal: boolean}>(
		db,
		sql`SELECT key, grouping(key) = 1 AS "isTotal", CAST(count(DISTINCT row) AS float8) AS rows,
			CAST(count(DISTINCT device_id) AS float8) AS devices,
			CASE WHEN grouping(key) = 1 THEN sum(value) FILTER (WHERE is_first) ELSE sum(value) END AS sum
		FROM (
			SELECT ${key} AS key, ${by === 'tag' ? sql`place IS NULL OR place = 1` : sql`true`} AS is_first, counted.*
			FROM (SELECT row_number() OVER () AS row, inner_rows.* FROM (${rows}) AS inner_rows) AS counted ${tags}
		) AS keyed GROUP BY GROUPING SETS ((key), ())`,
	);
	return {total: counts.find(({isTotal}) => isTotal), counts: counts.filter(({isTotal}) => !isTotal)};
};

type Counts = {
	clicked: Awaited<ReturnType<typeof countByDimension>>;
	matched: Awaited<ReturnType<typeof countRows>>;
	happened: Awaited<ReturnType<typeof countRows>>;
};

/** Rows in the order of their clicks, the most first. */
const rowsOf = ({clicked, matched, happened}: Counts, property: string | null): Row[] => {
	const rows = new Map<string | null, Row>();
	const rowOf = (key: string | null): Row => {
		const row = rows.get(key) ?? {key, clicks: 0, matches: 0, devices: 0, events: 0, sum: property === null ? null : 0};
		rows.set(key, row);
		return row;
	};
	for (const {key, count} of clicked.counts) {
		rowOf(key).clicks = count;
	}

	for (const {key, rows: matches} of matched.counts) {
		rowOf(key).matches = matches;
	}

	for (const {key, rows: events, devices, sum} of happened.counts) {
		Object.assign(rowOf(key), {events, devices, sum: property === null ? null : sumOf(sum)});
	}

	return [...rows.values()].toSorted(
		(a, b) => b.clicks - a.clicks || b.events - a.events || String(a.key).localeCompare(String(b.key)),
	);
};

/**
 * The outcome of clicks, by one dimension: matches, devices with an event, events and the sum of a property
 * (contract/reports 5). Each step is counted at its own time.
 * @throws 400.
 */
export const readFunnel = async (
	services: Pick<Services, 'clickJournal' | 'clicks' | 'clock' | 'db' | 'longReads'>,
	caller: ForCaller,
	query: FunnelQuery,
): Promise<Funnel> => {
	const {organizationId, hungUp} = caller;
	const {by, event, property} = query;
	const {clickJournal, clicks, clock} = services;
	await clickJournal.flushed({containing: [organizationId]});
	const reader = await clicks.reader(organizationId);
	const {range} = await readBounds(services.db, {...query, interval: 'month'}, clock.now());
	const linkIds = await chooseLinks(services.db, {organizationId, linkId: null}, query);
	const scope = {organizationId, linkIds};
	const isFolded = foldedDimensions.includes(by);
	const read = async (trx: Db): Promise<Counts> => {
		const clicked = await countByDimension(trx, scope, range, by, reader);
		const count = async (names: string[] | null) => ({
			clicked,
			matched: await countRows(trx, matchesOf(scope, range), {organizationId, by, names}),
			happened: await countRows(trx, eventsOf(scope, range, query), {organizationId, by, names}),
		});
		const counts = await count(null);
		// The names of all steps together; values with clicks come first, so theirs are among them.
		const names = rowsOf(counts, property).flatMap(({key}) => (key === null || key === OTHER ? [] : [key]));
		return isFolded && names.length > MAX_ROWS ? count(names.slice(0, MAX_ROWS)) : counts;
	};
	const counts = await services.longReads.reports.run(caller, () =>
		readInSnapshot(services.db, {hungUp, locked: lockedBy(scope)}, read),
	);
	const {clicked, matched, happened} = counts;
	return {
		...range,
		by,
		event,
		property,
		totals: {
			clicks: clicked.total,
			matches: matched.total?.rows ?? 0,
			devices: happened.total?.devices ?? 0,
			events: happened.total?.rows ?? 0,
			sum: property === null ? null : sumOf(happened.total?.sum),
		},
		rows: rowsOf(counts, property).slice(0, isFolded ? undefined : MAX_ROWS),
		...(clicked.since === null ? {} : {breakdownsSince: clicked.since}),
	};
};
