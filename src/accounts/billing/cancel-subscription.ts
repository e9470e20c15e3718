import {withLease} from '../../platform/db/lease.ts';
import {noBillingCustomer, nothingToResume, required} from '../../platform/errors.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {billingLease} from './apply-subscription.ts';
import {type BillingServices, gatewayOfSubscription, requireGateway} from './gateway.ts';
import {replacePending, requireLive, writeFlags} from './pending-change.ts';
import {manualPeriodEnd, type Subscription} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';

type Target = {organization: Organization; by: Caller};

/**
 * Ends the subscription with its period. A repetition calls the gateway again, because a resume that failed half way may
 * have left it in another state than the row. @throws 409 without a subscription, 502, 503.
 */
export const cancelSubscription = (services: BillingServices, {organization, by}: Target): Promise<Subscription> =>
	withLease(services, billingLease(organization.id), async () => {
		const subscription = await requireLive(services, organization.id);
		const gateway = gatewayOfSubscription(services, subscription);
		if (gateway !== null) {
			const cancel = () => gateway.setCancelAtPeriodEnd(subscription, true);
			await replacePending(services, gateway, subscription, cancel);
		}

		return writeFlags(
			services,
			{organizationId: organization.id, by, action: 'CANCEL'},
			{
				cancelAtPeriodEnd: true,
				scheduledPlan: null,
				...(subscription.cancelAtPeriodEnd ? {} : manualPeriodEnd(subscription, services.clock.now())),
			},
		);
	});

/** Undoes a cancellation. @throws 409 if there is none, or its period is over; 502, 503. */
export const resumeSubscription = (services: BillingServices, {organization, by}: Target): Promise<Subscription> =>
	withLease(services, billingLease(organization.id), async () => {
		const subscription = await requireLive(services, organization.id);
		const {currentPeriodEnd} = subscription;
		const isOver = currentPeriodEnd !== null && currentPeriodEnd <= services.clock.now();
		if (!subscription.cancelAtPeriodEnd || isOver) {
			throw nothingToResume();
		}

		await gatewayOfSubscription(services, subscription)?.setCancelAtPeriodEnd(subscription, false);
		return writeFlags(
			services,
			{organizationId: organization.id, by, action: 'RESUME'},
			{cancelAtPeriodEnd: false, scheduledPlan: null, ...manualPeriodEnd(subscription, null)},
		);
	});

/** The page on which the customer manages cards. @throws 409 without a customer there, 502, 503. */
export const openBillingPortal = async (
	services: Pick<BillingServices, 'db' | 'gateways'>,
	organization: Organization,
): Promise<{url: string}> => {
	const subscription = await createSubscriptionStore(services.db).findOf(organization.id);
	const customerId = required(subscription?.gatewayCustomerId ?? null, noBillingCustomer);
	return {url: await requireGateway(services, 'GATEWAY_A').openPortal(customerId)};
};
