import {createOrganizationStore} from '../../accounts/organizations/organization-store.ts';
import {
	domainLookupFailed,
	domainNotFound,
	domainRecordMissing,
	domainRejected,
	required,
} from '../../platform/errors.ts';
import {cutText} from '../../platform/text.ts';
import type {Services} from '../../services.ts';
import {type ConfiguredDomain, type Domain, recordName} from './domain.ts';
import {
	type DomainJson,
	type DomainTarget,
	requireCustomDomains,
	requireNoAlias,
	withDomains,
} from './domain-operations.ts';
import {createDomainStore, createHostnameDecisions} from './domain-store.ts';

/** Bounds of the check of a zone: our value has 52 characters. */
const MAX_RECORDS = 1000;
const MAX_RECORD = 1000;

/** Bounds of the records that the message quotes. */
const SHOWN_RECORDS = 5;
const SHOWN_LENGTH = 100;

/** @throws 409 if the record is missing, 502 if DNS did not answer. */
const requireRecord = async (
	{resolveTxt, log}: Pick<Services, 'resolveTxt' | 'log'>,
	{id, hostname, verificationToken}: Domain,
): Promise<void> => {
	const name = recordName(hostname ?? '');
	const found = await resolveTxt(name).catch((error: unknown) => {
		log.warn({err: error, domainId: id}, 'a TXT record could not be looked up');
		throw domainLookupFailed(name);
	});
	// Values entered by hand may be surrounded by spaces and quotes.
	const values = found
		.slice(0, MAX_RECORDS)
		.map((value) => cutText(value, MAX_RECORD).replace(/^[\s"]+|(?<![\s"])[\s"]+$/g, ''));
	if (verificationToken === null || !values.includes(verificationToken)) {
		const shown = values.slice(0, SHOWN_RECORDS).map((value) => cutText(value, SHOWN_LENGTH));
		throw domainRecordMissing(name, verificationToken ?? '', shown);
	}
};

const requirePending = (found: ConfiguredDomain | null): ConfiguredDomain => {
	const domain = required(found, domainNotFound);
	if (domain.status === 'REJECTED') {
		throw domainRejected();
	}

	return domain;
};

/**
 * Looks the domain's TXT record up and makes it VERIFIED; a verified one stays so without a lookup.
 * @throws 402, 403 FEATURE_NOT_AVAILABLE; 404; 409 if the record is missing (the domain stays PENDING), if it was
 * rejected, or if another organization has verified it; 502 if DNS failed.
 */
export const verifyDomain = async (
	services: Pick<Services, 'addresses' | 'clock' | 'config' | 'db' | 'log' | 'resolveTxt'>,
	target: DomainTarget,
): Promise<DomainJson> => {
	requireCustomDomains(services, target.organization);
	// Before the transaction: no row is locked during the lookup.
	const asked = requirePending(await createDomainStore(services.db, target.organization.id).find(target.id));
	if (asked.status === 'PENDING') {
		requireNoAlias(services, asked.hostname ?? '');
		await requireRecord(services, asked);
	}

	return withDomains(services, target, async ({trx, now, store, record, json}) => {
		const domain = requirePending(await store.lock(target.id));
		if (domain.status === 'VERIFIED') {
			return json(domain);
		}

		// The name may have been rejected for another organization since this one was added.
		const hostname = domain.hostname ?? '';
		const decisions = createHostnameDecisions(trx);
		await decisions.lock(hostname);
		if (await decisions.isRejected(hostname)) {
			throw domainRejected();
		}

		const verified = await store.setStatus(domain, 'VERIFIED', now);
		await record('VERIFY', verified);
		return json(verified);
	});
};

/**
 * Verifies a domain on the operator's authority, without DNS. A rejected name becomes available again, for all
 * organizations.
 * @throws 404, 409 if another organization has verified it.
 */
export const approveDomain = (
	services: Pick<Services, 'addresses' | 'clock' | 'db'>,
	target: DomainTarget,
): Promise<DomainJson> =>
	withDomains(services, target, async ({trx, now, store, record, json}) => {
		const domain = required(await store.lock(target.id), domainNotFound);
		if (domain.status === 'VERIFIED') {
			return json(domain);
		}

		const hostname = domain.hostname ?? '';
		requireNoAlias(services, hostname);
		const decisions = createHostnameDecisions(trx);
		await decisions.lock(hostname);
		await decisions.approve(hostname);
		const approved = await store.setStatus(domain, 'VERIFIED', now);
		await record('APPROVE', approved, {from: domain.status});
		return json(approved);
	});

/**
 * Stops serving a domain at once, and blocks its name from verification until it is approved. If it was the default,
 * new links use the shared one.
 * @throws 404.
 */
export const rejectDomain = (
	services: Pick<Services, 'addresses' | 'clock' | 'db'>,
	target: DomainTarget,
): Promise<DomainJson> =>
	withDomains(services, target, async ({trx, now, organization, store, record, json}) => {
		const domain = required(await store.lock(target.id), domainNotFound);
		const hostname = domain.hostname ?? '';
		const decisions = createHostnameDecisions(trx);
		await decisions.lock(hostname);
		await decisions.reject(hostname, organization.id, now);
		if (domain.status === 'REJECTED') {
			return json(domain);
		}

		const rejected = await store.setStatus(domain, 'REJECTED', now);
		await record('REJECT', rejected, {from: domain.status});
		if (organization.defaultDomainId !== domain.id) {
			return json(rejected);
		}

		await createOrganizationStore(trx).update(organization.id, {defaultDomainId: null}, now);
		return json(rejected, null);
	});
