import {auditRow, type Caller} from '../audit/audit-log.ts';
import type {Addresses} from '../config/config.ts';
import {createBatches} from '../db/batches.ts';
import {CHANGES, type ChangeFeed} from '../db/change-feed.ts';
import {type Db, isConnectionFault} from '../db/db.ts';
import {type Prepared, runPrepared} from '../db/prepared.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {type PlanDeps, planOf} from '../plans/entitlements.ts';
import type {Plan} from '../plans/plans.ts';
import {creationOf, emptyLink, generateShortCode} from './empty-link.ts';
import {type LinkInput, type LinkJson, type LinkRow, linkJson, withInput} from './link.ts';

export type NewLink = {organization: Organization; by: Caller; fields: LinkInput};

/**
 * Creates a plain link, as nearly all are: without a template, a channel or a domain of its own.
 * @returns null if it is not plain or a check may refuse it; then nothing was created.
 */
export type LinkWriter = (newLink: NewLink) => Promise<LinkJson | null>;

/** A plain link with its organization as of the request; its domain is not known yet. */
type PlainCreate = {owner: Organization; plan: Plan; by: Caller; now: Date; link: Omit<LinkRow, 'domain_id'>};

/** The domain of a created link; `isKnown` resolves when no process still answers as if the link did not exist. */
type Made = {domain: {domain_id: string; hostname: string | null}; isKnown: Promise<void>};

/** Beyond 20 links of one organization the feed reports that all of it has changed (migration change_feed). */
const MAX_BATCH = 20;

/**
 * The organizations, hidden from the planner: if it knew their number, it would plan the statement each time, which
 * takes as long as four creates.
 */
const ORGANIZATIONS = '(SELECT CAST($2 AS uuid[]))::uuid[]';

/**
 * Many creates with all their checks: the organization still has the plan of these limits, an app is registered, both
 * quotas have room, the plan includes the default domain, and no URL is on it. All creates of an organization are made
 * or none; where a constraint refuses one, the counts are rolled back as well. Organizations are locked first, as all
 * writers below them do. Where another transaction has locked one, or its count, its creates are left out, so that the
 * others do not wait.
 */
export const insertPlain: Prepared = {
	name: 'create links',
	text: `WITH sent AS MATERIALIZED (
			SELECT * FROM json_to_recordset($1::json) AS (organization_id uuid, plan text, entitled_until timestamptz,
				clicks bigint, month date, has_no_url boolean, has_domains boolean, links bigint, link jsonb, audit json)
		), owners AS MATERIALIZED (
			SELECT organizations.id, plan, entitled_until, domains.id AS domain_id, domains.hostname
			FROM organizations JOIN domains ON domains.id = coalesce(
				(SELECT id FROM domains WHERE id = organizations.default_domain_id AND status = 'VERIFIED'),
				(SELECT id FROM domains WHERE organization_id IS NULL)
			)
			WHERE organizations.id = ANY (${ORGANIZATIONS}) FOR KEY SHARE OF organizations SKIP LOCKED
		), free AS MATERIALIZED (
			SELECT organization_id FROM link_counts WHERE organization_id = ANY (${ORGANIZATIONS}) FOR UPDATE SKIP LOCKED
		), passing AS MATERIALIZED (
			SELECT sent.*, owners.domain_id, owners.hostname FROM sent JOIN owners ON owners.id = sent.organization_id
			WHERE owners.plan IS NOT DISTINCT FROM sent.plan AND owners.entitled_until IS NOT DISTINCT FROM sent.entitled_until
				AND EXISTS (SELECT FROM app_configs WHERE app_configs.organization_id = owners.id)
				AND (sent.clicks IS NULL OR sent.clicks > coalesce(
					(SELECT clicks FROM click_counts WHERE organization_id = owners.id AND month = sent.month), 0))
				AND (owners.hostname IS NULL OR (sent.has_no_url AND sent.has_domains))
				AND (owners.id IN (SELECT organization_id FROM free)
					OR NOT EXISTS (SELECT FROM link_counts WHERE link_counts.organization_id = owners.id))
		), counted AS (
			INSERT INTO link_counts (organization_id, links)
			SELECT organization_id, count(*) FROM passing GROUP BY organization_id
			HAVING coalesce(count(*) <= min(links), true) ORDER BY organization_id
			ON CONFLICT (organization_id) DO UPDATE SET links = link_counts.links + excluded.links
			WHERE coalesce(link_counts.links + excluded.links
				<= (SELECT min(links) FROM passing WHERE passing.organization_id = link_counts.organization_id), true)
			RETURNING organization_id
		), made AS MATERIALIZED (
			SELECT passing.* FROM passing JOIN counted USING (organization_id)
		), inserted AS (
			INSERT INTO links SELECT row.* FROM made
			CROSS JOIN jsonb_populate_record(null::links, link || jsonb_build_object('domain_id', domain_id)) AS row
		), audited AS (
			INSERT INTO audit_log SELECT row.* FROM made CROSS JOIN json_populate_record(null::audit_log, audit) AS row
		)
		SELECT link ->> 'id' AS id, domain_id, hostname, pg_notify('${CHANGES}', $3) FROM made`,
};

const sentRow = ({owner, plan, by, now, link}: PlainCreate) => ({
	organization_id: owner.id,
	plan: owner.plan,
	entitled_until: owner.entitledUntil,
	clicks: plan.quotas.clicks,
	month: `${now.toISOString().slice(0, 7)}-01`,
	has_no_url: link.fallback_url === null && link.og_image_url === null && link.destinations === null,
	has_domains: plan.features.custom_domains,
	links: plan.quotas.links,
	link,
	audit: auditRow(now, by, creationOf(link)),
});

/**
 * Creates that arrive together share one statement. It also sends the barrier after which no process still has the links
 * as missing in its cache. The bar of `POST /links` (docs/performance.md) needs this: a transaction per create, with one
 * check after the other, costs several times as much.
 */
export const createLinkWriter = (
	services: PlanDeps & {addresses: Addresses; changes: ChangeFeed; db: Db},
): LinkWriter => {
	const {addresses, changes, clock, db} = services;

	const many = async (creates: readonly PlainCreate[]): Promise<Array<Made | undefined>> => {
		const barrier = changes.barrier();
		const made = new Map<string, Made['domain']>();
		try {
			const rows = await runPrepared<Made['domain'] & {id: string}>(db, insertPlain, [
				JSON.stringify(creates.map(sentRow)),
				[...new Set(creates.map(({owner}) => owner.id))],
				barrier.message,
			]);
			for (const {id, ...domain} of rows) {
				made.set(id, domain);
			}
		} finally {
			if (made.size === 0) {
				barrier.drop();
			}
		}

		const isKnown = made.size === 0 ? Promise.resolve() : barrier.passed();
		return creates.map(({link}) => {
			const domain = made.get(link.id);
			return domain && {domain, isKnown};
		});
	};

	/** Null if PostgreSQL rejects it; `createLink` then determines the reason. */
	const one = async (create: PlainCreate): Promise<Made | null> => {
		try {
			const [made] = await many([create]);
			return made ?? null;
		} catch (error) {
			if (isConnectionFault(error)) {
				throw error;
			}

			return null;
		}
	};

	const batched = createBatches<PlainCreate, Made | null>({most: MAX_BATCH, many, one});

	return async ({organization: owner, by, fields}) => {
		const {domainId, templateId, ...own} = fields;
		const plan = planOf(services, owner);
		const isPlain = own.path != null && own.channel == null && domainId == null && templateId == null;
		// Without the change feed the barrier is never reported as passed.
		if (plan === null || !isPlain || !changes.isHearing()) {
			return null;
		}

		const now = clock.now();
		const blank = {...emptyLink(owner.id, '', now), short_code: generateShortCode()};
		const {domain_id: _, ...link} = withInput(blank, own);
		// A taken name would fail the whole batch, which would then be repeated one by one.
		const isNamed = own.shortCode != null || own.externalId != null;
		const made = await (isNamed ? one : batched)({owner, plan, by, now, link});
		if (made === null) {
			return null;
		}

		await made.isKnown;
		const {domain_id, hostname} = made.domain;
		return linkJson(addresses, owner, {link: {...link, domain_id}, hostname, template: null});
	};
};
