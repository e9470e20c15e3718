import type {Portal} from './portal.ts';

export type AuditRecord = {
	action: string;
	entityId: string | null;
	actor: {type: string; id: string | null; name: string | null};
	details: Record<string, unknown> | null;
};

type Row = {
	action: string;
	entity_id: string | null;
	actor_type: string;
	actor_id: string | null;
	actor_name: string | null;
	details: Record<string, unknown> | null;
};

/** Audit records of one kind of an organization's objects. The fake clock stands still, so they are unordered. */
export const auditOf = async (
	{services: {db}}: Portal,
	organizationId: string,
	entityType: string,
): Promise<AuditRecord[]> => {
	const rows: Row[] = await db('audit_log').where({organization_id: organizationId, entity_type: entityType});
	return rows.map(({action, entity_id: entityId, actor_type: type, actor_id: id, actor_name: name, details}) => ({
		action,
		entityId,
		actor: {type, id, name},
		details,
	}));
};
