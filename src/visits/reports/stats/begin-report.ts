import {type Db, onlyRow} from '../../../platform/db/db.ts';
import {run, sql} from '../../../platform/db/sql.ts';
import type {Rolled} from '../rollups/rows-beside-rollups.ts';
import type {Range, Scope} from './stats-bounds.ts';
import {type Cover, coverBreakdowns, coverQuarters, partialDays} from './stats-cover.ts';

/** The end of the rollups, and the parts of a range that are read from them: quarters of an hour for counts, spans for breakdowns. */
export type Covers = {
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
const coverLinks = async (trx: Db, {from, to}: Range): Promise<Covers> => {
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
export const beginReport = async (trx: Db, {organizationId, linkIds}: Scope, range: Range): Promise<Covers> => {
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
