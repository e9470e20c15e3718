import {auditRow, type Caller} from '../audit/audit-log.ts';
import {CHANGES} from '../db/change-feed.ts';
import {isConnectionFault} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {planOf} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {creationOf, emptyLink, generateShortCode} from './empty-link.ts';
import {type LinkInput, type LinkJson, linkJson, withInput} from './link.ts';

export type NewLink = {organization: Organization; by: Caller; fields: LinkInput};

/**
 * All of a create: the plan that the limits are of is still the organization's, an app is registered, there is room in
 * both quotas, and nothing is on the link's own domain. It makes everything or nothing; what a constraint refuses takes
 * the count along. The organization is locked first, as everybody does who writes below it.
 */
const create: Prepared = {
	name: 'create a link',
	text: `WITH owner AS MATERIALIZED (
			SELECT organizations.id, domains.id AS domain_id, domains.hostname
			FROM organizations JOIN domains ON domains.id = coalesce(
				(SELECT id FROM domains WHERE id = organizations.default_domain_id AND status = 'VERIFIED'),
				(SELECT id FROM domains WHERE organization_id IS NULL)
			)
			WHERE organizations.id = $1 AND plan IS NOT DISTINCT FROM $2 AND entitled_until IS NOT DISTINCT FROM $3
				AND EXISTS (SELECT FROM app_configs WHERE organization_id = $1)
				AND ($4::bigint IS NULL OR $4 > coalesce(
					(SELECT clicks FROM click_counts WHERE organization_id = $1 AND month = $5), 0))
				AND ($6 OR domains.hostname IS NULL)
			FOR KEY SHARE OF organizations
		), counted AS (
			INSERT INTO link_counts (organization_id, links) SELECT id, 1 FROM owner WHERE coalesce($7::bigint > 0, true)
			ON CONFLICT (organization_id) DO UPDATE SET links = link_counts.links + 1
			WHERE coalesce(link_counts.links < $7, true)
			RETURNING organization_id
		), made AS (
			INSERT INTO links SELECT row.* FROM owner JOIN counted ON counted.organization_id = owner.id
			CROSS JOIN jsonb_populate_record(null::links, $8::jsonb || jsonb_build_object('domain_id', owner.domain_id)) AS row
			RETURNING id
		), audited AS (
			INSERT INTO audit_log SELECT row.* FROM json_populate_record(null::audit_log, $9) AS row
			WHERE EXISTS (SELECT FROM made)
		)
		SELECT owner.domain_id, owner.hostname, pg_notify('${CHANGES}', $10) FROM owner JOIN made ON true`,
};

/**
 * Creates a link as nearly all are: without a template, a channel or a domain of its own, where nothing speaks against
 * it. One statement does it, which also asks everybody to forget that the link was not there.
 * @returns null where that is not so, and nothing was made: the checks, one after the other, tell why.
 */
export const createAtOnce = async (
	services: Services,
	{organization, by, fields}: NewLink,
): Promise<LinkJson | null> => {
	const {addresses, changes, clock, db} = services;
	const {domainId, templateId, ...own} = fields;
	const plan = planOf(services, organization);
	const isPlain = own.path != null && own.channel == null && domainId == null && templateId == null;
	// In a transaction the question would be told at its end only; a process that hears nothing does not hear the answers.
	if (plan === null || !isPlain || db.isTransaction || !changes.isTrusted()) {
		return null;
	}

	const now = clock.now();
	const link = withInput({...emptyLink(organization.id, '', now), short_code: generateShortCode()}, own);
	const question = changes.question();
	try {
		const {domain_id: _, ...row} = link;
		const [made] = await runPrepared<{domain_id: string; hostname: string | null}>(db, create, [
			organization.id,
			organization.plan,
			organization.entitledUntil,
			plan.quotas.clicks,
			`${now.toISOString().slice(0, 7)}-01`,
			link.fallback_url === null && link.og_image_url === null,
			plan.quotas.links,
			JSON.stringify(row),
			JSON.stringify(auditRow(now, by, creationOf(link))),
			question.message,
		]);
		if (made !== undefined) {
			await question.answered();
			link.domain_id = made.domain_id;
			return linkJson(addresses, organization, {link, domain: made, template: null});
		}
	} catch (error) {
		if (isConnectionFault(error)) {
			throw error;
		}
	} finally {
		question.drop();
	}

	return null;
};
