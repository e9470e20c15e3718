import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {countMonthClicks, planOf} from '../../accounts/plans/entitlements.ts';
import {createDomainStore} from '../../links/domains/domain-store.ts';
import {countLinks} from '../../links/links/link-store.ts';
import {appLinkLimit} from '../../platform/config/plans.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {Services} from '../../services.ts';
import {readListeners} from './listeners.ts';
import {writeOutbox} from './outbox.ts';

/** The marks of a quota that are reported, in percent. */
const MARKS = [80, 100];

type Deps = Pick<Services, 'clock' | 'config' | 'db' | 'log'>;
type QuotaUse = {quota: string; used: number; limit: number | null; month: string};

/** The month of quotas that are not by the month. */
const NO_MONTH = '2000-01-01';

const readUsed = async (
	services: Deps,
	organization: Pick<Organization, 'id' | 'plan' | 'entitledUntil'>,
): Promise<QuotaUse[]> => {
	const {db, clock} = services;
	const plan = planOf(services, organization);
	if (plan === null) {
		return [];
	}

	const now = clock.now();
	const {links, appLinks} = await countLinks(db, organization.id);
	return [
		{quota: 'links', used: links, limit: plan.quotas.links, month: NO_MONTH},
		{quota: 'appLinks', used: appLinks, limit: appLinkLimit(plan), month: NO_MONTH},
		{
			quota: 'domains',
			used: await createDomainStore(db, organization.id).count(),
			limit: plan.quotas.domains,
			month: NO_MONTH,
		},
		{
			quota: 'clicks',
			used: await countMonthClicks(db, organization.id, now),
			limit: plan.quotas.clicks,
			month: `${now.toISOString().slice(0, 7)}-01`,
		},
	];
};

/** Reports quotas of which 80 or 100 % are used, each mark once; again after the use was below it. */
export const reportQuotas = async (services: Deps): Promise<void> => {
	const {db, clock} = services;
	const listeners = await readListeners(db, ['quota.reached']);
	const organizations: Array<Pick<Organization, 'id' | 'plan' | 'entitledUntil'>> = await db('organizations')
		.whereIn('id', [...listeners.keys()])
		.select('id', 'plan', {entitledUntil: 'entitled_until'});
	for (const organization of organizations) {
		for (const {quota, used, limit, month} of await readUsed(services, organization)) {
			for (const percent of MARKS) {
				const mark = {organization_id: organization.id, quota, percent, month};
				if (limit === null || limit === 0 || used * 100 < limit * percent) {
					await db('quota_marks').where(mark).delete();
					continue;
				}

				await inTransaction(db, async (trx) => {
					const [marked] = await trx('quota_marks').insert(mark).onConflict().ignore().returning('quota');
					if (marked !== undefined) {
						const data = {quota, percent, used, limit};
						await writeOutbox(trx, {organizationId: organization.id, type: 'quota.reached', at: clock.now(), data});
					}
				});
			}
		}
	}
};
