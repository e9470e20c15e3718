import {type Db, onlyRow} from '../../../platform/db/db.ts';
import type {Rolled} from '../rollups/rows-beside-rollups.ts';
import type {Range, Scope} from './stats-bounds.ts';
import {type Cover, coverBreakdowns, coverQuarters, partialDays} from './stats-cover.ts';

/** How far rollups go, and what of a range is read from them: quarters of an hour for counts, spans for breakdowns. */
export type Covers = {
	rolled: Rolled | null;
	quarters: Range;
	spans: Cover;
	/** Of some links: since when breakdowns are; null: all of the range. */
	breakdownsSince: Date | null;
};

/** JIT compilation takes longer than the statements of a report run. */
const JIT_OFF = "set_config('jit', 'off', true)";

/**
 * The rows of some links are spread over the table. With PostgreSQL's default of 4 MB it forgets which rows of a page it
 * looks for, and checks them all: of a tag of 100 links among 1e7 clicks, twelve rows for each that counts. It reads the
 * pages in half the time when it may ask for many at once; where that is 0, it is off or unsupported.
 */
const READ_SPREAD_ROWS = `set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, 65536) || 'kB', true),
	set_config('effective_io_concurrency',
		CASE current_setting('effective_io_concurrency') WHEN '0' THEN '0' ELSE '200' END, true)`;

/** Null without rollups: before existing rows are added up, and in a restored copy until that is noticed. */
const readRolled = async (trx: Db, organizationId: string, partial: Date[]): Promise<Rolled | null> => {
	const {rows} = await trx.raw<{rows: Array<{snapshot: string; days: Date[]}>}>(
		`SELECT ${JIT_OFF}, CAST(rolled AS text) AS snapshot, ARRAY(
			SELECT start FROM rollup_days WHERE organization_id = :organizationId AND has_hours
				AND start IN (:first, :last)) AS days
		FROM rollups WHERE cluster = (SELECT system_identifier FROM pg_control_system())
			AND (backfill_organization_id IS NULL OR CAST(:organizationId AS uuid) < backfill_organization_id)`,
		{organizationId, first: partial.at(0) ?? null, last: partial.at(-1) ?? null},
	);
	const [row] = rows;
	return row === undefined ? null : {snapshot: row.snapshot, daysWithHours: row.days};
};

/**
 * Clicks of some links are counted from their rows, of which there are few enough, and of dropped months from what is kept
 * of them. A month is dropped whole, which `lockedBy` keeps from the time of the report. Of ClickHouse's
 * months the one that is being dropped is kept already, so it is not read.
 */
const coverLinks = async (trx: Db, {from, to}: Range): Promise<Covers> => {
	const {rows} = await trx.raw<{
		rows: Array<{breakdownsSince: Date | null; dropping: Date | null; dropped: Date | null}>;
	}>(
		`SELECT ${JIT_OFF}, ${READ_SPREAD_ROWS}, CASE WHEN clicks_from > CAST(:from AS timestamptz) THEN clicks_from END
				AS "breakdownsSince",
			dropping, (dropping AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' AS dropped
		FROM rollups`,
		{from},
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
