import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {planOf} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {emptyLink, generateShortCode} from './empty-link.ts';
import {type LinkInput, type LinkJson, linkJson, withInput} from './link.ts';

export type NewLink = {organization: Organization; by: Caller; fields: LinkInput};

/**
 * Creates a link as nearly all are: without a template, a channel or a domain of its own, where nothing speaks against
 * it. One statement does it, together with those of others that arrive at the moment.
 * @returns null where that is not so, and nothing was made: the checks, one after the other, tell why.
 */
export const createAtOnce = async (
	services: Services,
	{organization, by, fields}: NewLink,
): Promise<LinkJson | null> => {
	const {addresses, changes, clock, db, linkWriter} = services;
	const {domainId, templateId, ...own} = fields;
	const plan = planOf(services, organization);
	const isPlain = own.path != null && own.channel == null && domainId == null && templateId == null;
	// In a transaction the question would be told at its end only; a process that hears nothing does not hear the answers.
	if (plan === null || !isPlain || db.isTransaction || !changes.isTrusted()) {
		return null;
	}

	const now = clock.now();
	const {domain_id: _, ...link} = withInput(
		{...emptyLink(organization.id, '', now), short_code: generateShortCode()},
		own,
	);
	const isNamed = own.shortCode != null || own.externalId != null;
	const made = await linkWriter({owner: organization, plan, by, now, link, isNamed});
	if (made === null) {
		return null;
	}

	await made.isKnown;
	const {domain_id, hostname} = made.domain;
	return linkJson(addresses, organization, {link: {...link, domain_id}, hostname, template: null});
};
