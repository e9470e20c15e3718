import {daysBefore, retention, storageLimits} from '../../platform/config/policies.ts';
import {repeatBatches} from '../../platform/db/batches.ts';
import type {Db} from '../../platform/db/db.ts';
import {execute, identifier, joined, run, type Sql, sql} from '../../platform/db/sql.ts';
import {clearedAttempt} from '../../visits/matches/match-attempt-store.ts';
import {deleteEvents} from '../../visits/sdk/sdk-store.ts';

type DaysName = keyof ReturnType<typeof retention> | 'visitDeviceDays';

/** How long the rows of a table are kept. docs/privacy.md says the same (test/documents.ts). */
export type RetentionRule = {
	/** The job that applies the rule. */
	job: string;
	table: string;
	/** The time from which the days are counted; it has an index. */
	column: string;
	/** The days, or their name in `config/retention.json` or `config/storage.json`. */
	days: number | DaysName;
	/** Rows that the rule is about; default: all. */
	and?: Sql;
	/** `older`: a row of exactly that age stays. `older day`: `column` is a day, which stays until all of it is older. */
	due?: 'older' | 'older day';
	/** The assignments that clear a row; default: the row is deleted. */
	clear?: Sql;
	/** Replaces the statement. */
	deleteBefore?: (db: Db, before: Date) => Promise<number>;
};

const hasNoEvent = sql`NOT EXISTS (
	SELECT FROM events WHERE events.organization_id = devices.organization_id AND events.device_id = devices.device_id)`;

/** The provider gives up after two and a half days; the rest allows manual replays by an operator. */
const PROVIDER_DAYS = 30;
/** The time in which a session or a late event may arrive, which must not restore a deleted record. */
const TOMBSTONE_DAYS = 400;
/** Of reports of links, and of short codes of deleted links that were blocked. */
const REPORT_DAYS = 90;
const byProvider = {job: 'forget_deliveries', column: 'received_at', days: PROVIDER_DAYS, due: 'older'} as const;

const attempts = {job: 'forget_attempts', table: 'match_attempts', column: 'at'} as const;
const devices = {job: 'forget_devices', table: 'devices', column: 'last_seen_at'} as const;
const deliveries = {job: 'forget_webhooks', table: 'endpoint_deliveries'} as const;

/** Every limit of storage but those of `clicks` (`CLICK_RETENTION_DAYS`) and open matches (contract/match 8). */
export const retentionRules: readonly RetentionRule[] = [
	{...attempts, days: 'unownedAttemptDays', and: sql`NOT matched AND organization_id IS NULL`},
	{...attempts, days: 'matchAttemptDays', and: sql`NOT matched`},
	// Reports count matches, so their rows stay.
	{...attempts, days: 'matchAttemptDays', and: sql`matched AND click_id IS NOT NULL`, clear: clearedAttempt},
	{job: 'forget_attempts', table: 'counted_phones', column: 'day', days: 'countedPhoneDays'},
	{job: 'forget_events', table: 'events', column: 'occurred_at', days: 'eventDays', deleteBefore: deleteEvents},
	// A device is kept as long as its events. Those known only from `/data` go first, because it needs no key.
	{...devices, days: 'visitDeviceDays', and: sql`by_visit AND ${hasNoEvent}`},
	{...devices, days: 'deviceDays', and: hasNoEvent},
	{job: 'forget_audit', table: 'audit_log', column: 'at', days: 'auditDays'},
	{job: 'forget_unknown_codes', table: 'unknown_codes', column: 'day', days: 'unknownCodeDays', due: 'older day'},
	{...byProvider, table: 'webhook_deliveries'},
	{...byProvider, table: 'identity_events'},
	{...byProvider, table: 'awaited_roles'},
	{...byProvider, table: 'identity_tombstones', column: 'deleted_at', days: TOMBSTONE_DAYS},
	{job: 'forget_reports', table: 'alias_visits', column: 'day', days: REPORT_DAYS, due: 'older day'},
	{job: 'forget_reports', table: 'abuse_reports', column: 'created_at', days: REPORT_DAYS, due: 'older'},
	{job: 'forget_reports', table: 'blocked_codes', column: 'deleted_at', days: REPORT_DAYS, due: 'older'},
	{...deliveries, column: 'delivered_at', days: 'webhookBodyDays', and: sql`body IS NOT NULL`, clear: sql`body = NULL`},
	{...deliveries, column: 'created_at', days: 'webhookDeliveryDays'},
	{job: 'forget_refusals', table: 'limit_refusals', column: 'hour', days: 1},
	{job: 'forget_app_requests', table: 'app_counts', column: 'hour', days: 'appCountDays'},
	{job: 'forget_app_requests', table: 'app_requests', column: 'at', days: 1},
];

export const daysOf = ({days}: RetentionRule): number =>
	typeof days === 'number' ? days : {...retention(), ...storageLimits()}[days];

/** Whether a row's time is over. */
const isDue = ({column, and, due}: RetentionRule, before: Date): Sql => {
	const at = identifier(column);
	const isOver =
		due === undefined
			? sql`${at} <= ${before}`
			: due === 'older'
				? sql`${at} < ${before}`
				: sql`${at} < CAST(${before} AS date)`;
	return and === undefined ? isOver : sql`${and} AND ${isOver}`;
};

/** Rows that another process has locked are skipped; the next run finds them. */
const applyRule = (db: Db, rule: RetentionRule, before: Date): Promise<number> => {
	if (rule.deleteBefore !== undefined) {
		return rule.deleteBefore(db, before);
	}

	const table = identifier(rule.table);
	const write = rule.clear === undefined ? sql`DELETE FROM ${table}` : sql`UPDATE ${table} SET ${rule.clear}`;
	return repeatBatches((limit) =>
		execute(
			db,
			sql`${write} WHERE ctid = ANY(ARRAY(
				SELECT ctid FROM ${table} WHERE ${isDue(rule, before)}
				ORDER BY ${identifier(rule.column)} LIMIT ${limit} FOR UPDATE SKIP LOCKED
			))`,
		),
	);
};

/** Applies the rules of a job, in order. @returns the number of rows that each deleted or cleared. */
export const applyRetention = async (db: Db, now: Date, job: string): Promise<number[]> => {
	const counts: number[] = [];
	for (const rule of retentionRules.filter((one) => one.job === job)) {
		counts.push(await applyRule(db, rule, daysBefore(now, daysOf(rule))));
	}

	return counts;
};

/** The tables with rows that should have been deleted or cleared a day ago. */
export const findOverdueTables = async (db: Db, now: Date): Promise<string[]> => {
	const checks = retentionRules.map(
		(rule) => sql`SELECT CAST(${rule.table} AS text) AS name WHERE EXISTS (
			SELECT FROM ${identifier(rule.table)} WHERE ${isDue(rule, daysBefore(now, daysOf(rule) + 1))})`,
	);
	const rows = await run<{name: string}>(db, joined(checks, ' UNION ALL '));
	return [...new Set(rows.map(({name}) => name))];
};
