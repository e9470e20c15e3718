import {planUnchanged} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {FALLBACK_PLAN} from './apply-subscription.ts';
import {type CheckoutSessionResult, checkoutResult} from './checkout-result.ts';
import type {Gateway} from './gateway.ts';
import {replacePending} from './replace-pending.ts';
import {manualPeriodEnd, type Subscription} from './subscription.ts';
import {writeFlags} from './write-flags.ts';

type Target = {organization: Organization; by: Caller};

/** The gateway is null for a subscription that ops set. */
type Running = {subscription: Subscription; gateway: Gateway | null};

const scheduleAtGateway = async (gateway: Gateway, subscription: Subscription, plan: string): Promise<void> => {
	if (plan === FALLBACK_PLAN) {
		await gateway.setCancelAtPeriodEnd(subscription, true);
		return;
	}

	if (subscription.cancelAtPeriodEnd) {
		await gateway.setCancelAtPeriodEnd(subscription, false);
	}

	await gateway.scheduleDowngrade(subscription, plan);
};

/** Schedules a cheaper plan, or the free one, for the next period. @throws 409, 502. */
export const downgradePlan = async (
	services: Pick<Services, 'db' | 'clock' | 'log'>,
	{organization, by}: Target,
	{subscription, gateway, plan}: Running & {plan: string},
): Promise<CheckoutSessionResult> => {
	const ends = plan === FALLBACK_PLAN;
	if (gateway !== null) {
		const schedule = () => scheduleAtGateway(gateway, subscription, plan);
		await replacePending(services, gateway, subscription, schedule);
	}

	const after = await writeFlags(
		services,
		{organizationId: organization.id, by, action: 'SCHEDULE_DOWNGRADE'},
		{
			cancelAtPeriodEnd: ends,
			scheduledPlan: plan,
			...manualPeriodEnd(subscription, ends ? services.clock.now() : null),
		},
	);
	return checkoutResult('SCHEDULED_DOWNGRADE', after, after.gateway);
};

/** Cancels a scheduled change. @throws 409 without one, 502. */
export const keepPlan = async (
	services: Pick<Services, 'db' | 'clock' | 'log'>,
	{organization, by}: Target,
	{subscription, gateway}: Running,
): Promise<CheckoutSessionResult> => {
	if (subscription.scheduledPlan === null) {
		throw planUnchanged(subscription.plan);
	}

	await (subscription.cancelAtPeriodEnd
		? gateway?.setCancelAtPeriodEnd(subscription, false)
		: gateway?.keepPlan(subscription));
	const after = await writeFlags(
		services,
		{organizationId: organization.id, by, action: 'CANCEL_DOWNGRADE'},
		{cancelAtPeriodEnd: false, scheduledPlan: null, ...manualPeriodEnd(subscription, null)},
	);
	return checkoutResult('DOWNGRADE_CANCELLED', after, after.gateway);
};
