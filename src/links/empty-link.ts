import {randomUUID} from 'node:crypto';
import type {AuditEntry} from '../audit/audit-log.ts';
import {randomAlphanumeric} from '../random-text.ts';
import type {LinkRow} from './link.ts';

/** A new short code (contract/hosts 5). */
export const generateShortCode = (): string => randomAlphanumeric(7);

/** A link with default values. */
export const emptyLink = (organizationId: string, domainId: string, now: Date): LinkRow => ({
	id: randomUUID(),
	organization_id: organizationId,
	domain_id: domainId,
	template_id: null,
	short_code: '',
	external_id: null,
	path: null,
	params: null,
	title: null,
	tags: null,
	channel: null,
	utm_source: null,
	utm_medium: null,
	utm_campaign: null,
	utm_term: null,
	utm_content: null,
	fallback_url: null,
	destinations: null,
	minimum_version: null,
	og_title: null,
	og_description: null,
	og_image_url: null,
	expiry: null,
	is_active: true,
	deferred_deep_linking: null,
	match_window_hours: null,
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
