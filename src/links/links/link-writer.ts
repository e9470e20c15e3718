import {randomUUID} from 'node:crypto';
import {type AuditEntry, auditRow, type Caller} from '../../accounts/audit/audit-log.ts';
import type {Db} from '../../platform/db/db.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {shortCodeTaken} from '../../platform/errors.ts';
import {randomAlphanumeric} from '../../platform/text.ts';
import type {LinkRow} from './link.ts';
import {type LinkColumn, linkColumns} from './link-fields.ts';

/** A new short code (contract/hosts 5). */
export const generateShortCode = (): string => randomAlphanumeric(7);

const nothingSet = Object.fromEntries(linkColumns.map(({column}) => [column, null])) as Record<LinkColumn, null>;

/** A link with default values. */
export const emptyLink = (organizationId: string, domainId: string, now: Date): LinkRow => ({
	...nothingSet,
	id: randomUUID(),
	organization_id: organizationId,
	domain_id: domainId,
	decision: null,
	short_code: '',
	is_active: true,
	created_at: now,
	updated_at: now,
});

/** The audit record of a link. */
export const linkEntry = (
	action: string,
	{id, organization_id: organizationId, short_code: shortCode}: Pick<LinkRow, 'id' | 'organization_id' | 'short_code'>,
	details: Record<string, unknown>,
): AuditEntry => ({action, entityType: 'Link', entityId: id, organizationId, details: {shortCode, ...details}});

/**
 * A link to insert. `hasOwnCode`: its short code was asked for; a generated one that is taken is replaced.
 * @property path the path that the audit record of its creation has.
 */
export type NewRow = {link: LinkRow & {hasOwnCode: boolean}; path: string | null; by: Caller};

/**
 * The only statement that creates links: those whose short code is free, counted and recorded. A taken external id, or a
 * reference that is gone, is a violation. Exported for a test.
 */
export const insertion = (links: readonly LinkRow[], records: readonly object[], isByApp: boolean): Sql =>
	prepared(
		'create links',
		sql`WITH inserted AS (
			INSERT INTO links SELECT * FROM jsonb_populate_recordset(null::links, ${JSON.stringify(links)}::jsonb)
			ON CONFLICT ON CONSTRAINT links_organization_id_short_code_key DO NOTHING
			RETURNING id, organization_id
		), counted AS (
			UPDATE link_counts SET links = links + made, app_links = app_links + CASE WHEN ${isByApp} THEN made ELSE 0 END
			FROM (SELECT organization_id AS id, CAST(count(*) AS integer) AS made FROM inserted GROUP BY 1) AS new
			WHERE organization_id = new.id
		), audited AS (
			INSERT INTO audit_log SELECT row.* FROM json_populate_recordset(null::audit_log, ${JSON.stringify(records)}::json) AS row
			JOIN inserted ON CAST(inserted.id AS text) = entity_id
		)
		SELECT id FROM inserted`,
	);

/**
 * Inserts links, counts them and records their creation. The caller has checked the quotas and holds the count
 * (`readCreator`). @throws 409 for a taken short code; violations of other constraints as they are.
 */
export const insertLinks = async (
	trx: Db,
	{now, isByApp = false}: {now: Date; isByApp?: boolean},
	rows: readonly NewRow[],
): Promise<void> => {
	let rest = rows;
	while (rest.length > 0) {
		const links = rest.map(({link}) => link);
		const records = rest.map(({link, path, by}) => auditRow(now, by, linkEntry('CREATE', link, {path})));
		const inserted = await run<{id: string}>(trx, insertion(links, records, isByApp));
		const ids = new Set(inserted.map(({id}) => id));
		rest = rest.filter(({link}) => !ids.has(link.id));
		for (const {link} of rest) {
			if (link.hasOwnCode) {
				throw shortCodeTaken(link.short_code);
			}

			link.short_code = generateShortCode();
		}
	}
};
