import {createHash, randomUUID} from 'node:crypto';
import {type Clock, HOUR_MS} from '../../platform/clock.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
import {execute, sql} from '../../platform/db/sql.ts';

/** The actor, in the priority of contract/operations 4. */
type ActorType = 'ADMIN_PASSTHROUGH' | 'ADMIN' | 'USER' | 'API_KEY' | 'ADMIN_BEARER' | 'SYSTEM';
export type Actor = {type: ActorType; id: string | null; name: string | null};

/** The actor of an operation and the request that it runs in. */
export type Caller = {actor: Actor; requestId: string | null};

export const adminBearer: Actor = {type: 'ADMIN_BEARER', id: null, name: 'Admin token'};
export const systemCaller: Caller = {actor: {type: 'SYSTEM', id: null, name: 'Oplink'}, requestId: null};

export type AuditEntry = {
	action: string;
	entityType: string;
	entityId: string | null;
	organizationId: string | null;
	details?: Record<string, unknown> | null;
};

/** Makes the entries of one type of entity. */
export const entriesOf =
	(entityType: string) =>
	(
		action: string,
		{id: entityId, organizationId}: {id: string | null; organizationId: string | null},
		details: AuditEntry['details'] = null,
	): AuditEntry => ({action, entityType, entityId, organizationId, details});

/** The record of a change of an organization itself. */
export const organizationEntry = (action: string, id: string, details: Record<string, unknown>): AuditEntry =>
	entriesOf('Organization')(action, {id, organizationId: id}, details);

/** Actions that can be repeated endlessly without using up a quota. */
const REPEATABLE = new Set(['UPDATE', 'SET_DEFAULT']);

/**
 * The key by which records are merged: actor, action and target within an hour (UTC). Null for records that stand
 * alone: those from gateways and the identity provider, because each reports an event of its own, and those of members,
 * because a role that was given and taken back within the hour would leave no trace.
 */
const repeatKey = (now: Date, {actor}: Caller, {action, entityType, entityId, organizationId}: AuditEntry) => {
	if (!REPEATABLE.has(action) || actor.type === 'SYSTEM' || entityType === 'Member') {
		return null;
	}

	const hour = Math.floor(now.getTime() / HOUR_MS);
	const parts = [organizationId, actor.type, actor.id, action, entityType, entityId, hour];
	return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
};

/** A row of `audit_log`; `details` is stored unchanged. */
export const auditRow = (now: Date, by: Caller, entry: AuditEntry) => ({
	id: randomUUID(),
	at: now,
	organization_id: entry.organizationId,
	actor_type: by.actor.type,
	actor_id: by.actor.id,
	actor_name: by.actor.name,
	action: entry.action,
	entity_type: entry.entityType,
	entity_id: entry.entityId,
	request_id: by.requestId,
	details: entry.details ?? null,
	repeat_key: repeatKey(now, by, entry),
	count: 1,
	since: null as Date | null,
});

type Row = ReturnType<typeof auditRow>;

const toJson = (row: Row) => ({
	id: row.id,
	at: row.at,
	action: row.action,
	entityType: row.entity_type,
	entityId: row.entity_id,
	actor: {type: row.actor_type, id: row.actor_id, name: row.actor_name},
	organizationId: row.organization_id,
	requestId: row.request_id,
	details: row.since === null ? row.details : {...row.details, repeated: {count: row.count, since: row.since}},
});

/** A record as the API shows it (contract/portal 8). */
export type AuditRecord = ReturnType<typeof toJson>;

const insertRows = (trx: Db, rows: Row[]): Promise<unknown> =>
	execute(
		trx,
		sql`INSERT INTO audit_log AS known SELECT made.* FROM json_populate_recordset(null::audit_log, ${JSON.stringify(rows)}::json) AS made
		ON CONFLICT (repeat_key) WHERE repeat_key IS NOT NULL DO UPDATE SET
			at = excluded.at,
			request_id = excluded.request_id,
			details = merge_audit_details(known.details, excluded.details),
			count = known.count + 1,
			since = coalesce(known.since, known.at)`,
	);

/** A statement cannot merge into one record twice, so rows with equal keys go into separate statements. */
const inRounds = (rows: readonly Row[]): Row[][] => {
	const rounds: Row[][] = [];
	const seen = new Map<string, number>();
	for (const row of rows) {
		const key = row.repeat_key ?? row.id;
		const round = seen.get(key) ?? 0;
		seen.set(key, round + 1);
		rounds[round] ??= [];
		rounds[round].push(row);
	}

	return rounds;
};

/**
 * Writes audit records. Call it in the transaction of the change: a rollback then removes the record. Changes that
 * one actor repeats within an hour are merged into one record, which names the fields of all. So a key cannot flood the
 * log with a link that it changes a hundred times a second.
 */
export const recordAudit = async (trx: Db, now: Date, by: Caller, ...entries: AuditEntry[]): Promise<void> => {
	if (entries.length === 0) {
		return;
	}

	for (const rows of inRounds(entries.map((entry) => auditRow(now, by, entry)))) {
		await insertRows(trx, rows);
	}
};

/** A write in its transaction, which records what it changes. */
export type AuditedWrite = {
	trx: Db;
	now: Date;
	record(action: string, entityId: string | null, details: object): Promise<void>;
};

/** Runs a write of an organization's objects of one type in a transaction. */
export const audited = <T>(
	{db, clock}: {db: Db; clock: Clock},
	entityType: string,
	{organization, by}: {organization: {id: string}; by: Caller},
	work: (write: AuditedWrite) => Promise<T>,
): Promise<T> =>
	inTransaction(db, async (trx) => {
		const now = clock.now();
		const record: AuditedWrite['record'] = (action, entityId, details) =>
			recordAudit(trx, now, by, {action, entityType, entityId, organizationId: organization.id, details: {...details}});
		return work({trx, now, record});
	});

/** An organization's records, newest first. */
export const listAudit = (db: Db, organizationId: string, query: PageQuery): Promise<Page<AuditRecord>> =>
	readPage(db('audit_log').where({organization_id: organizationId}), query, descending('at', 'id'), toJson);
