import {randomUUID} from 'node:crypto';
import type {AuditEntry} from '../../accounts/audit/audit-log.ts';
import {randomAlphanumeric} from '../../platform/random-text.ts';
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
	short_code: '',
	is_active: true,
	created_at: now,
	updated_at: now,
});

/** The audit record of a new link. */
export const creationOf = (link: Pick<LinkRow, 'id' | 'organization_id' | 'short_code' | 'path'>): AuditEntry => ({
	action: 'CREATE',
	entityType: 'Link',
	entityId: link.id,
	organizationId: link.organization_id,
	details: {shortCode: link.short_code, path: link.path},
});
