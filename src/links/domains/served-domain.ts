import {hasFeature, type PlanDeps} from '../../accounts/plans/entitlements.ts';
import type {Services} from '../../services.ts';
import {findVerifiedDomain, type VerifiedDomain} from './domain-store.ts';

export type ServedDomainDeps = PlanDeps & Pick<Services, 'db' | 'hostCache'>;

/**
 * The custom domain currently served under a host name, needed for every request to another host than ours. The domain
 * and its organization's plan are cached; whether the plan has custom domains is decided at each request, because it
 * may expire without a write (contract/billing 3).
 * @param before runs before the database query and may refuse, because a caller may send any name.
 */
export const findServedDomain = async (
	services: ServedDomainDeps,
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
