import {type AuditedWrite, audited, type Caller} from '../../accounts/audit/audit-log.ts';
import {createOrganizationStore, type Organization} from '../../accounts/organizations/organization-store.ts';
import {requireFeature, requirePlan, requireQuota} from '../../accounts/plans/entitlements.ts';
import type {Plan} from '../../platform/config/plans.ts';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {
	domainIsAlias,
	domainNotFound,
	domainNotVerified,
	organizationNotFound,
	required,
	validationFailed,
} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {type ConfiguredDomain, type Domain, domainJson, mintVerificationToken} from './domain.ts';
import {createDomainStore, createHostnameDecisions, findUsableDomain, sharedDomainId} from './domain-store.ts';
import {listUnknownCodes} from './unknown-code-store.ts';

export type DomainJson = ReturnType<typeof domainJson>;
export type DomainTarget = {organization: Organization; by: Caller; id: string};

/** The context of a domain operation, in its transaction. */
type DomainWork = Pick<AuditedWrite, 'trx' | 'now'> & {
	/** The current row, locked: its plan, default and domains cannot change until the transaction ends. */
	organization: Organization;
	store: ReturnType<typeof createDomainStore>;
	record(action: string, domain: Domain, details?: Record<string, unknown>): Promise<void>;
	json(domain: ConfiguredDomain, defaultDomainId?: string | null): DomainJson;
};

/**
 * Runs `work` in a transaction that locks the organization's row: concurrent additions are counted one by one, and a
 * default cannot be chosen while it is rejected or deleted.
 * @throws 404 without the organization.
 */
export const withDomains = <T>(
	services: Pick<Services, 'addresses' | 'clock' | 'db'>,
	target: {organization: {id: string}; by: Caller},
	work: (context: DomainWork) => Promise<T>,
): Promise<T> =>
	audited(services, 'Domain', target, async ({trx, now, record}) => {
		const {id} = target.organization;
		const organization = required(await createOrganizationStore(trx).lock(id), organizationNotFound);
		return work({
			trx,
			now,
			organization,
			store: createDomainStore(trx, id),
			record: (action, domain, details) => record(action, domain.id, {hostname: domain.hostname, ...details}),
			json: (domain, defaultDomainId = organization.defaultDomainId) =>
				domainJson(domain, {linkDomain: services.addresses.linkDomain, defaultDomainId}),
		});
	});

/** The organization's domains and the shared one. */
export const listDomains = async (
	{db, addresses: {linkDomain}}: Pick<Services, 'addresses' | 'db'>,
	{organization, query}: {organization: Organization; query: PageQuery},
) => {
	const found = await createDomainStore(db, organization.id).list(query);
	const {defaultDomainId} = organization;
	return {...found, data: found.data.map((domain) => domainJson(domain, {linkDomain, defaultDomainId}))};
};

/** The codes of a domain that no link has, most visits first. @throws 404. */
export const readUnknownCodes = async (
	{db, unknownCodes}: Pick<Services, 'db' | 'unknownCodes'>,
	{organization, id, query}: {organization: {id: string}; id: string; query: PageQuery},
) => {
	const domain = required(await createDomainStore(db, organization.id).find(id), domainNotFound);
	await unknownCodes.settled();
	return listUnknownCodes(db, {organizationId: organization.id, domainId: domain.id}, query);
};

/** The plan of an organization that may have its own domains. @throws 402, 403 FEATURE_NOT_AVAILABLE. */
export const requireCustomDomains = (
	services: Pick<Services, 'clock' | 'config' | 'log'>,
	organization: Organization,
): Plan => {
	const plan = requirePlan(services, organization);
	requireFeature(plan, 'custom_domains');
	return plan;
};

/** @throws 409 for an alias of the shared link domain, which nobody can claim. */
export const requireNoAlias = ({addresses: {aliases}}: Pick<Services, 'addresses'>, hostname: string): void => {
	if (aliases.includes(hostname)) {
		throw domainIsAlias();
	}
};

/**
 * Adds a domain, PENDING until it is verified; REJECTED at once if the operator rejected its name.
 * @param hostname as written by `normalHostname`. @throws 400 for a host of the service itself, 402, 403
 * FEATURE_NOT_AVAILABLE, 409 if it is in use.
 */
export const addDomain = (
	services: Pick<Services, 'addresses' | 'clock' | 'config' | 'db' | 'hostRoles' | 'log'>,
	{hostname, ...target}: {organization: {id: string}; by: Caller; hostname: string},
): Promise<DomainJson> =>
	withDomains(services, target, async ({trx, organization, store, now, record, json}) => {
		requireNoAlias(services, hostname);
		if (services.hostRoles.roleOf(hostname) !== 'other') {
			throw validationFailed([{field: 'hostname', message: 'hostname must not be a host of this service'}]);
		}

		const plan = requireCustomDomains(services, organization);
		const decisions = createHostnameDecisions(trx);
		await decisions.lock(hostname);
		const status = (await decisions.isRejected(hostname)) ? 'REJECTED' : 'PENDING';
		const domain = await store.insert({hostname, token: mintVerificationToken(), status}, now);
		// After the insert: a taken name is refused as such, not as an exhausted quota.
		requireQuota(plan, 'domains', (await store.count()) - 1);
		await record('CREATE', domain);
		return json(domain);
	});

/**
 * Makes a VERIFIED domain, or the shared one, the default for the organization's new links.
 * @throws 402, 403 FEATURE_NOT_AVAILABLE for a custom one, 404, 409 unless it is VERIFIED.
 */
export const setDefaultDomain = (
	services: Pick<Services, 'addresses' | 'clock' | 'config' | 'db' | 'log'>,
	target: DomainTarget,
): Promise<DomainJson> =>
	withDomains(services, target, async ({trx, now, organization, store, record, json}) => {
		const domain = required(
			(await store.lock(target.id)) ?? (await findUsableDomain(trx, organization.id, target.id)),
			domainNotFound,
		);
		if (domain.organizationId !== null) {
			requireCustomDomains(services, organization);
		}

		if (domain.status !== 'VERIFIED') {
			throw domainNotVerified();
		}

		// Null is the shared domain.
		const defaultDomainId = domain.organizationId === null ? null : domain.id;
		if (defaultDomainId !== organization.defaultDomainId) {
			await createOrganizationStore(trx).update(organization.id, {defaultDomainId}, now);
			await record('SET_DEFAULT', domain);
		}

		return json(domain, defaultDomainId);
	});

/** Removes a domain; its links move to the shared one, which itself cannot be removed. @throws 404. */
export const deleteDomain = (services: Pick<Services, 'addresses' | 'clock' | 'db'>, target: DomainTarget) =>
	withDomains(services, target, async ({trx, now, store, record}) => {
		const domain = required(await store.lock(target.id, {blocksNewLinks: true}), domainNotFound);
		const movedLinks = await store.moveLinks(domain.id, await sharedDomainId(trx), now);
		await store.remove(domain.id);
		await record('DELETE', domain, {movedLinks});
		return {id: domain.id, deleted: true};
	});
