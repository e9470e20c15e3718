import {randomUUID} from 'node:crypto';
import type {Db} from '../db/db.ts';
import {readPage} from '../db/read-page.ts';
import type {Page, PageQuery} from '../http/validate.ts';

/** Who did it, in the priority of contract/operations 4. */
export type ActorType = 'ADMIN_PASSTHROUGH' | 'ADMIN' | 'USER' | 'API_KEY' | 'ADMIN_BEARER' | 'SYSTEM';
export type Actor = {type: ActorType; id: string | null; name: string | null};

/** On whose behalf an operation runs, and in which request. */
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

type Row = {
	id: string;
	at: Date;
	organization_id: string | null;
	actor_type: ActorType;
	actor_id: string | null;
	actor_name: string | null;
	action: string;
	entity_type: string;
	entity_id: string | null;
	request_id: string | null;
	details: Record<string, unknown> | null;
};

const toJson = (row: Row) => ({
	id: row.id,
	at: row.at,
	action: row.action,
	entityType: row.entity_type,
	entityId: row.entity_id,
	actor: {type: row.actor_type, id: row.actor_id, name: row.actor_name},
	organizationId: row.organization_id,
	requestId: row.request_id,
	details: row.details,
});

/** The row of `audit_log`; `details` as it is. */
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
});

/**
 * Writes records of what was done. Call it with the transaction of the write itself, so that an action that is rolled
 * back leaves no record.
 */
export const recordAudit = async (trx: Db, now: Date, by: Caller, ...entries: AuditEntry[]): Promise<void> => {
	if (entries.length === 0) {
		return;
	}

	await trx('audit_log').insert(
		entries
			.map((entry) => auditRow(now, by, entry))
			.map((row) => ({...row, details: row.details === null ? null : JSON.stringify(row.details)})),
	);
};

/** An organization's records, newest first. */
export const listAudit = async (
	db: Db,
	organizationId: string,
	{page, limit}: PageQuery,
): Promise<Page<ReturnType<typeof toJson>>> => {
	const all = db('audit_log').where({organization_id: organizationId});
	return readPage(all, {page, limit}, 'at DESC, id DESC', toJson);
};
