import {hasFeature} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {findVerifiedDomain, type VerifiedDomain} from './domain-store.ts';

/**
 * The custom domain that serves under a host name now, as every request for another host than ours asks. The domain is
 * kept in memory, together with its organization's plan; whether the plan has custom domains is decided at each request,
 * because it may end without anybody writing anything (contract/billing 3).
 * @param before runs before the database is asked, and may refuse: anybody may send any name.
 */
export const findServedDomain = async (
	services: Pick<Services, 'db' | 'hostCache' | 'config' | 'clock' | 'log'>,
	hostname: string,
	before: () => Promise<void> = async () => {},
): Promise<VerifiedDomain | null> => {
	const {db, hostCache} = services;
	const domain = await hostCache.get(hostname, async () => {
		await before();
		return findVerifiedDomain(db, hostname);
	});
	return domain !== null && hasFeature(services, domain, 'custom_domains') ? domain : null;
};
