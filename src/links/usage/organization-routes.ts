import {organizationRoute} from '../../accounts/auth/route.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {countMonthClicks, planOf} from '../../accounts/plans/entitlements.ts';
import {countSeats} from '../../accounts/team/member-store.ts';
import {appLinkLimit, type QuotaName} from '../../platform/config/plans.ts';
import {answerOf, count, partOf} from '../../platform/http/answer.ts';
import type {Services} from '../../services.ts';
import {createDomainStore} from '../domains/domain-store.ts';
import {countLinks} from '../links/link-store.ts';

/** `limit` null: unlimited. Clicks are those of the calendar month (UTC); `appLinks` are links that apps created. */
export type Usage = Record<QuotaName | 'appLinks', {used: number; limit: number | null}>;

/**
 * An organization's use of each quota; open invitations count as members. Without a plan every limit is 0, because
 * everything gated by a quota is refused then (402 PLAN_NOT_SELECTED).
 */
const readUsage = async (
	services: Pick<Services, 'clickJournal' | 'clock' | 'config' | 'db' | 'log' | 'provider'>,
	organization: Organization,
): Promise<Usage> => {
	const {db, clock, clickJournal} = services;
	const {id} = organization;
	await clickJournal.flushed({containing: [id]});
	const [{links, appLinks}, clicks, members, domains] = await Promise.all([
		countLinks(db, id),
		countMonthClicks(db, id, clock.now()),
		countSeats(services, organization),
		createDomainStore(db, id).count(),
	]);
	const plan = planOf(services, organization);
	const of = (quota: QuotaName, used: number) => ({used, limit: plan === null ? 0 : plan.quotas[quota]});
	return {
		links: of('links', links),
		appLinks: {used: appLinks, limit: plan === null ? 0 : appLinkLimit(plan)},
		clicks: of('clicks', clicks),
		members: of('members', members),
		domains: of('domains', domains),
	};
};

const quota = partOf({used: count, limit: count.allow(null)});

/** Use of each quota; a `limit` of null is unlimited. */
const usageAnswer = answerOf('Usage', {links: quota, appLinks: quota, clicks: quota, members: quota, domains: quota});

export const usageRoutes = organizationRoute('GET', '/usage', {
	summary: 'Get the use of each quota',
	answer: usageAnswer,
	role: 'viewer',
	handler: ({services, organization}) => readUsage(services, organization),
});
