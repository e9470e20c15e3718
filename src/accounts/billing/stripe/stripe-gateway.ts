import type Stripe from 'stripe';
import type {Plans} from '../../../platform/config/plans.ts';
import type {CardGateway} from '../gateway.ts';
import {cancelNow, keepPrice, schedulePrice, setCancelAtPeriodEnd, upgradeNow} from './change-subscription.ts';
import {openStripeCheckout, priceOf} from './open-checkout.ts';
import {receiveStripeEvent, recordStripeEvent} from './receive-event.ts';
import {call, callOrRefusal} from './stripe-client.ts';

type Deps = {stripe: Stripe; plans: Plans; returnUrl: string};

/** With its library: tests change its settings. */
export type StripeGateway = CardGateway & {stripe: Stripe};

/** Stripe, GATEWAY_A (contract/billing 14, contract/billing 7). */
export const createStripeGateway = (deps: Deps): StripeGateway => {
	const {stripe, plans, returnUrl} = deps;
	return {
		name: 'GATEWAY_A',
		stripe,
		priceOf: ({stripePrice}) => stripePrice,
		receive: async (services, {rawBody, headers}) => {
			await receiveStripeEvent({...services, stripe}, {rawBody, signature: headers['stripe-signature']});
		},
		replay: (services, {payload}, entry) => recordStripeEvent({...services, stripe}, JSON.parse(payload), entry),
		renewals: null,
		openCheckout: (attempt, payer) => openStripeCheckout(deps, attempt, payer),
		closeCheckout: async ({gatewayRef, purpose}) => {
			// An upgrade has no checkout but an invoice, which the next change replaces.
			if (gatewayRef !== null && purpose === 'FIRST') {
				await callOrRefusal(stripe.checkout.sessions.expire(gatewayRef));
			}
		},
		upgrade: (subscription, attempt, payer) => upgradeNow(deps, subscription, attempt, payer),
		scheduleDowngrade: async (subscription, plan) => {
			await schedulePrice(stripe, subscription, priceOf({plan, priceId: plans[plan]?.stripePrice ?? null}));
		},
		keepPlan: (subscription) => keepPrice(stripe, subscription),
		setCancelAtPeriodEnd: (subscription, cancel) => setCancelAtPeriodEnd(stripe, subscription, cancel),
		cancelNow: (subscription) => cancelNow(stripe, subscription),
		openPortal: async (customer) =>
			(await call(stripe.billingPortal.sessions.create({customer, return_url: returnUrl}))).url,
	};
};
