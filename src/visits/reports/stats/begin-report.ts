import {DAY_MS, HOUR_MS} from '../../../platform/clock.ts';
import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {run, sql} from '../../../platform/db/sql.ts';
import type {Rolled} from '../rollups/rows-beside-rollups.ts';
import type {Range, Scope} from './stats-bounds.ts';

/** The spans of rollups, all in UTC. */
type Span = 'hour' | 'day' | 'month';

/** The rollups that cover the middle of a range, in order and without gaps. The rows of both ends are counted. */
export type Cover = Range & {pieces: Array<Range & {span: Span}>};

const QUARTER_MS = HOUR_MS / 4;

/**
 * Since then days of all time zones begin and end on a quarter of an hour. (St. John's changed its clocks at 00:01
 * until 2011.) Clicks are younger; older events reported by apps are counted row by row.
 */
const QUARTERS_SINCE = Date.UTC(2016, 0, 1);

/** The start of the span (UTC) that a time is in. */
export const floorTo = (span: Span, ms: number): number => {
	if (span === 'month') {
		const at = new Date(ms);
		return Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
	}

	const length = span === 'day' ? DAY_MS : HOUR_MS;
	return Math.floor(ms / length) * length;
};

const ceilTo = (span: Span, ms: number): number => {
	const floor = floorTo(span, ms);
	if (floor === ms) {
		return ms;
	}

	return span === 'month' ? floorTo(span, floor + 31 * DAY_MS) : floor + (span === 'day' ? DAY_MS : HOUR_MS);
};

/** The days (UTC) that are partly in a range: at most two. */
export const partialDays = ({from, to}: Range): Date[] => {
	const ends = [from, to].map((end) => end.getTime());
	return ends.filter((ms) => ms % DAY_MS !== 0).map((ms) => new Date(floorTo('day', ms)));
};

const cut = (from: number, to: number, span: Span, isKept: (ms: number) => boolean): Cover['pieces'] => {
	const [start, end] = [ceilTo(span, from), floorTo(span, to)];
	if (span === 'hour') {
		return start < end && isKept(floorTo('day', start)) ? [{span, from: new Date(start), to: new Date(end)}] : [];
	}

	if (start < end) {
		const finer = span === 'month' ? 'day' : 'hour';
		return [
			...cut(from, start, finer, isKept),
			{span, from: new Date(start), to: new Date(end)},
			...cut(end, to, finer, isKept),
		];
	}

	// Two partial days are checked one by one.
	return span === 'day' && start === end
		? [...cut(from, start, 'hour', isKept), ...cut(start, to, 'hour', isKept)]
		: cut(from, to, span === 'month' ? 'day' : 'hour', isKept);
};

/** The spans of breakdowns for a range: whole months, whole days, and hours of those days that have them. */
export const coverBreakdowns = ({from, to}: Range, daysWithHours: Date[]): Cover => {
	const kept = new Set(daysWithHours.map((day) => day.getTime()));
	const pieces = cut(from.getTime(), to.getTime(), 'month', (day) => kept.has(day));
	return {from: pieces[0]?.from ?? from, to: pieces.at(-1)?.to ?? from, pieces};
};

/** The whole quarters of an hour in a range. */
export const coverQuarters = ({from, to}: Range): Range => {
	const start = Math.ceil(Math.max(from.getTime(), QUARTERS_SINCE) / QUARTER_MS) * QUARTER_MS;
	const end = Math.floor(to.getTime() / QUARTER_MS) * QUARTER_MS;
	return start < end ? {from: new Date(start), to: new Date(end)} : {from, to: from};
};

/** The end of the rollups, and the parts of a range that are read from them: quarters of an hour for counts, spans for breakdowns. */
export type Coverage = {
	rolled: Rolled | null;
	quarters: Range;
	spans: Cover;
	/** Of some links: the start of the breakdowns; null: that of the range. */
	breakdownsSince: Date | null;
};

/** JIT compilation takes longer than the statements of a report run. */
const JIT_OFF = sql`set_config('jit', 'off', true)`;

/**
 * The rows of some links are spread over the table. With PostgreSQL's default of 4 MB it forgets which rows of a page it
 * searches, and checks them all: of a tag of 100 links among 1e7 clicks, twelve rows for each that counts. It reads the
 * pages in half the time if it may request many at once; 0 means that this is off or unsupported.
 */
const READ_SPREAD_ROWS = sql`set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, 65536) || 'kB', true),
	set_config('effective_io_concurrency',
		CASE current_setting('effective_io_concurrency') WHEN '0' THEN '0' ELSE '200' END, true)`;

/** Null without rollups: before existing rows are added up, and in a restored copy until that is noticed. */
const readRolled = async (trx: Db, organizationId: string, partial: Date[]): Promise<Rolled | null> => {
	const [row] = await run<{snapshot: string; days: Date[]}>(
		trx,
		sql`SELECT ${JIT_OFF}, CAST(rolled AS text) AS snapshot, ARRAY(
			SELECT start FROM rollup_days WHERE organization_id = ${organizationId} AND has_hours
				AND start IN (${partial.at(0) ?? null}, ${partial.at(-1) ?? null})) AS days
		FROM rollups WHERE cluster = (SELECT system_identifier FROM pg_control_system())
			AND (backfill_organization_id IS NULL OR ${organizationId}::uuid < backfill_organization_id)`,
	);
	return row === undefined ? null : {snapshot: row.snapshot, daysWithHours: row.days};
};

/**
 * Clicks of some links are counted from their rows, of which there are few enough, and of dropped months from the kept
 * counts. A month is dropped as a unit, and `lockedBy` keeps that from the time of the report. The counts of the month that
 * ClickHouse is dropping are kept already, so its clicks are not read.
 */
const coverLinks = async (trx: Db, {from, to}: Range): Promise<Coverage> => {
	const rows = await run<{breakdownsSince: Date | null; dropping: Date | null; dropped: Date | null}>(
		trx,
		sql`SELECT ${JIT_OFF}, ${READ_SPREAD_ROWS},
			CASE WHEN clicks_from > ${from}::timestamptz THEN clicks_from END AS "breakdownsSince",
			dropping, (dropping AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' AS dropped
		FROM rollups`,
	);
	const {breakdownsSince, dropping, dropped} = onlyRow(rows);
	const within = (at: Date) => (at < from ? from : at > to ? to : at);
	const left = dropping === null || dropped === null ? {from, to: from} : {from: within(dropping), to: within(dropped)};
	return {rolled: null, quarters: left, spans: {...left, pieces: []}, breakdownsSince};
};

/** The table that a report locks before it begins (`readInSnapshot`). */
export const lockedBy = ({linkIds}: Scope): string | null => (linkIds === null ? null : 'clicks');

/** Begins a report, in a transaction that sees one state of the database. */
export const beginReport = async (trx: Db, {organizationId, linkIds}: Scope, range: Range): Promise<Coverage> => {
	if (linkIds !== null) {
		return coverLinks(trx, range);
	}

	const rolled = await readRolled(trx, organizationId, partialDays(range));
	if (rolled !== null) {
		return {
			rolled,
			quarters: coverQuarters(range),
			spans: coverBreakdowns(range, rolled.daysWithHours),
			breakdownsSince: null,
		};
	}

	const nothing = {from: range.from, to: range.from, pieces: []};
	return {rolled, quarters: nothing, spans: nothing, breakdownsSince: null};
};
