import {getLink} from '../links/read-links.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {PlanDeps} from '../plans/entitlements.ts';
import type {Services} from '../services.ts';
import {readCurrentStats, type Stats, type StatsQuery} from './stats.ts';

/** Clicks, matches and events of one link. @throws 404 if the organization has no such link. */
export const readLinkStats = async (
	services: PlanDeps & Pick<Services, 'addresses' | 'clickJournal' | 'clicks' | 'db'>,
	{organization, id, query}: {organization: Organization; id: string; query: StatsQuery},
): Promise<Stats> => {
	await getLink(services, {organization, id});
	return readCurrentStats(services, {organizationId: organization.id, linkId: id}, query);
};
