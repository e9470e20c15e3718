import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Db, inTransaction, onlyRow} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {prepared, run, sql} from '../../platform/db/sql.ts';

export const reportReasons = ['phishing', 'malware', 'spam', 'impersonation', 'other'] as const;
export type ReportReason = (typeof reportReasons)[number];

/** A report of a link, as the operator sees it. */
export type AbuseReport = {
	id: string;
	/** The short URL. */
	link: string;
	linkId: string;
	organizationId: string;
	reason: ReportReason;
	details: string | null;
	email: string | null;
	/** How often it was sent from the same network on that day. */
	count: number;
	createdAt: Date;
	lastAt: Date;
	closedAt: Date | null;
	note: string | null;
};

export type ReportState = 'open' | 'closed' | 'all';

/** Rows of a link and day. */
const MAX_PER_DAY = 200;

const columns: Columns<AbuseReport> = columnsOf(
	'id, link, link_id, organization_id, reason, details, email, count, created_at, last_at, closed_at, note',
);

/** A report with its state, as answers show it. */
export const reportJson = (report: AbuseReport) => ({
	...report,
	state: report.closedAt === null ? ('open' as const) : ('closed' as const),
});

export type NewReport = Pick<AbuseReport, 'link' | 'reason' | 'details' | 'email'> & {
	/** Keyed hash of the sender's network. */
	network: Buffer;
	now: Date;
};

/**
 * Stores a report of the link at an address, or counts it up. One of an address that no link has is dropped, and so is one
 * beyond the rows that a link has in a day. @returns whether there is such a link.
 */
export const addReport = (
	db: Db,
	{orgKey, shortCode}: {orgKey: string; shortCode: string},
	report: NewReport,
): Promise<boolean> =>
	inTransaction(db, async (trx) => {
		const {link, reason, details, email, network, now} = report;
		// Locked: concurrent reports are counted in turn.
		const [found] = await run<{id: string; organizationId: string}>(
			trx,
			sql`SELECT links.id, links.organization_id AS "organizationId" FROM links
				JOIN organizations ON organizations.id = links.organization_id
				WHERE organizations.org_key = ${orgKey} AND links.short_code = ${shortCode} FOR NO KEY UPDATE OF links`,
		);
		if (found === undefined) {
			return false;
		}

		const day = now.toISOString().slice(0, 10);
		await run(
			trx,
			sql`INSERT INTO abuse_reports AS known
				(id, organization_id, link_id, link, reason, details, email, network, day, count, created_at, last_at)
				SELECT ${randomUUID()}::uuid, ${found.organizationId}::uuid, ${found.id}::uuid, ${link}, ${reason}, ${details},
					${email}, ${network}::bytea, ${day}::date, 1, ${now}::timestamptz, ${now}::timestamptz
				FROM (SELECT count(*) AS rows, coalesce(bool_or(reason = ${reason} AND network = ${network}::bytea), false) AS has_own
					FROM abuse_reports WHERE link_id = ${found.id}::uuid AND day = ${day}::date) AS today
				WHERE rows < ${MAX_PER_DAY} OR has_own
				ON CONFLICT (link_id, day, reason, network) DO UPDATE SET count = known.count + 1, last_at = excluded.last_at`,
		);
		return true;
	});

export const listReports = (
	db: Db,
	{state, organizationId, page, limit}: PageQuery & {state: ReportState; organizationId: string | undefined},
): Promise<Page<AbuseReport>> => {
	const all = db('abuse_reports')
		.where(organizationId === undefined ? {} : {organization_id: organizationId})
		.modify((query) =>
			state === 'all' ? query : state === 'open' ? query.whereNull('closed_at') : query.whereNotNull('closed_at'),
		)
		.select(columns.list);
	return readPage(all, {page, limit}, descending('created_at', 'id'));
};

export const findReport = async (db: Db, id: string): Promise<AbuseReport | null> =>
	(await db('abuse_reports').where({id}).first(columns.list)) ?? null;

/** Closes a report; one that is closed keeps its time. A note replaces the former one. @returns null if there is none. */
export const closeReport = async (
	db: Db,
	id: string,
	{note, now}: {note: string | null; now: Date},
): Promise<AbuseReport | null> => {
	const [closed] = await run<AbuseReport>(
		db,
		sql`UPDATE abuse_reports SET closed_at = coalesce(closed_at, ${now}), note = coalesce(${note}, note)
			WHERE id = ${id} RETURNING ${columns.of('abuse_reports')}`,
	);
	return closed ?? null;
};

/** How many reports are open, and since when the oldest one is. */
export const countOpenReports = async (db: Db): Promise<{open: number; oldestAt: Date | null}> =>
	onlyRow(
		await run(
			db,
			prepared(
				'count open abuse reports',
				sql`SELECT count(*)::integer AS open, min(created_at) AS "oldestAt" FROM abuse_reports WHERE closed_at IS NULL`,
			),
		),
	);
