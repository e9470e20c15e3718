import {domainLookupFailed, domainNotFound, domainRecordMissing, domainRejected} from '../errors.ts';
import {createOrganizationStore} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import {type Domain, recordName} from './domain.ts';
import {type DomainJson, type DomainTarget, requireCustomDomains, withDomains} from './domain-operations.ts';
import {createDomainStore, createHostnameRulings} from './domain-store.ts';

/** How much of a zone is looked at: a value of ours has 52 characters, and nobody needs a thousand records. */
const MOST_RECORDS = 1000;
const LONGEST_RECORD = 1000;

/** How much of what stands in somebody's zone the message repeats. */
const SHOWN_RECORDS = 5;
const SHOWN_LENGTH = 100;

/** @throws 409 where the record is not there, 502 where DNS did not answer. */
const requireRecord = async (
	{resolveTxt, log}: Pick<Services, 'resolveTxt' | 'log'>,
	{id, hostname, verificationToken}: Domain,
): Promise<void> => {
	const name = recordName(hostname ?? '');
	const found = await resolveTxt(name).catch((error: unknown) => {
		log.warn({err: error, domainId: id}, 'a TXT record could not be looked up');
		throw domainLookupFailed(name);
	});
	// Where zones are edited by hand, values come with spaces and quotes around them.
	const values = found
		.slice(0, MOST_RECORDS)
		.map((value) => value.slice(0, LONGEST_RECORD).replace(/^[\s"]+|(?<![\s"])[\s"]+$/g, ''));
	if (verificationToken === null || !values.includes(verificationToken)) {
		const shown = values.slice(0, SHOWN_RECORDS).map((value) => value.slice(0, SHOWN_LENGTH));
		throw domainRecordMissing(name, verificationToken ?? '', shown);
	}
};

const requirePending = (domain: Domain | null): Domain => {
	if (domain === null) {
		throw domainNotFound();
	}

	if (domain.status === 'REJECTED') {
		throw domainRejected();
	}

	return domain;
};

/**
 * Looks the domain's TXT record up and makes it VERIFIED; one that is so already stays so, without a look-up.
 * @throws 402, 403 FEATURE_NOT_AVAILABLE; 404; 409 where the record is not there (the domain stays PENDING), where it was rejected, or where another
 * organization has it verified; 502 where DNS failed.
 */
export const verifyDomain = async (services: Services, target: DomainTarget): Promise<DomainJson> => {
	requireCustomDomains(services, target.organization);
	// Before the transaction: no row is held while somebody's name server takes its time.
	const asked = requirePending(await createDomainStore(services.db, target.organization.id).find(target.id));
	if (asked.status === 'PENDING') {
		await requireRecord(services, asked);
	}

	return withDomains(services, target, async ({trx, now, store, record, json}) => {
		const domain = requirePending(await store.lock(target.id));
		if (domain.status === 'VERIFIED') {
			return json(domain);
		}

		// The name may have been rejected under another organization since this one was added.
		const hostname = domain.hostname ?? '';
		const rulings = createHostnameRulings(trx);
		await rulings.hold(hostname);
		if (await rulings.isRejected(hostname)) {
			throw domainRejected();
		}

		const verified = await store.setStatus(domain, 'VERIFIED', now);
		await record('VERIFY', verified);
		return json(verified);
	});
};

/**
 * Lets a domain serve on the operator's word, without DNS. A name that was rejected is free again, for every organization.
 * @throws 404, 409 where another organization has it verified.
 */
export const approveDomain = (
	services: Pick<Services, 'addresses' | 'clock' | 'db'>,
	target: DomainTarget,
): Promise<DomainJson> =>
	withDomains(services, target, async ({trx, now, store, record, json}) => {
		const domain = await store.lock(target.id);
		if (domain === null) {
			throw domainNotFound();
		}

		if (domain.status === 'VERIFIED') {
			return json(domain);
		}

		const hostname = domain.hostname ?? '';
		const rulings = createHostnameRulings(trx);
		await rulings.hold(hostname);
		await rulings.approve(hostname);
		const approved = await store.setStatus(domain, 'VERIFIED', now);
		await record('APPROVE', approved, {from: domain.status});
		return json(approved);
	});

/**
 * Stops a domain from serving, at once, and its name from being verified by anybody until it is approved. Where it was the
 * default, new links take the shared one from now on.
 * @throws 404.
 */
export const rejectDomain = (
	services: Pick<Services, 'addresses' | 'clock' | 'db'>,
	target: DomainTarget,
): Promise<DomainJson> =>
	withDomains(services, target, async ({trx, now, organization, store, record, json}) => {
		const domain = await store.lock(target.id);
		if (domain === null) {
			throw domainNotFound();
		}

		const hostname = domain.hostname ?? '';
		const rulings = createHostnameRulings(trx);
		await rulings.hold(hostname);
		await rulings.reject(hostname, organization.id, now);
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
