import {fail} from 'node:assert/strict';
import type Stripe from 'stripe';
import type {StripeGateway} from '../../../src/accounts/billing/stripe/stripe-gateway.ts';
import {startFakeStripe} from '../../fakes/stripe/stripe.ts';
import {startPortal} from '../../helpers/portal.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {billingStage, DAY, type Whose} from './_stage.ts';

export type StripeStage = Awaited<ReturnType<typeof startStripeStage>>;

/**
 * The service with gateway A, which is a fake that speaks the real wire format. The library does not retry, so that
 * failures are quick. @param env variables that differ.
 */
export const startStripeStage = async (env: Record<string, string> = {}) => {
	const clock = createFakeClock();
	const stripe = await startFakeStripe({clock});
	const portal = await startPortal(
		{...stripe.env, BILLING_RETURN_URL: 'https://portal.example.com/billing', ...env},
		clock,
	);
	const stage = billingStage(portal, 'USD', stripe);
	const gateway = portal.services.gateways.GATEWAY_A as StripeGateway | null;
	/** How the library calls the gateway: its timeout in milliseconds, and its retries. */
	const setLibrary = (settings: {timeout?: number; maxNetworkRetries?: number}): void => {
		if (gateway !== null) {
			Object.assign(Reflect.get(gateway.stripe, '_api') as object, settings);
		}
	};
	/** Delivers the waiting events, oldest first. @returns the statuses of the answers. */
	const deliverAll = async (): Promise<number[]> => (await stripe.deliver(portal)).map(({status}) => status);
	/** A new owner who has paid a checkout, of which no event was delivered. */
	const payer = async (plan?: string) => {
		const owner = await stage.atCheckout(plan);
		stripe.pay(owner.checkout.sessionId);
		return owner;
	};

	/** The gateway's ids of an organization. */
	const idsOf = async ({organization: {id}}: Whose) => {
		const row: {gateway_subscription_id: string; gateway_customer_id: string} = await portal.services
			.db('subscriptions')
			.where({organization_id: id})
			.first();
		return {subscription: row.gateway_subscription_id, customer: row.gateway_customer_id};
	};
	/** Moves the clock, and what this causes at the gateway. */
	const pass = (days: number): void => {
		portal.clock.advance(days * DAY);
		stripe.advance();
	};

	/** As `pass`, and delivers the events that it causes. */
	const deliverAfter = (days: number): Promise<number[]> => {
		pass(days);
		return deliverAll();
	};
	/** How the organization's card answers charges from now on. */
	const setCard = async (whose: Whose, card: Parameters<typeof stripe.setCard>[1]): Promise<void> =>
		stripe.setCard((await idsOf(whose)).customer, card);
	/** A new owner with a paid subscription, and the answer of the checkout. */
	const subscribed = async (plan?: string) => {
		const owner = await payer(plan);
		await deliverAll();
		return owner;
	};

	setLibrary({maxNetworkRetries: 0});
	return {
		...stage,
		stripe,
		/** The service's own library. */
		get library(): Stripe {
			return (gateway ?? fail()).stripe;
		},
		setLibrary,
		deliverAll,
		/** Takes the waiting events without delivering them. */
		takeEvents: () => stripe.events.splice(0),
		/** Pays a checkout or an invoice, and delivers the events of that. */
		pay: (sessionId: string): Promise<number[]> => {
			stripe.pay(sessionId);
			return deliverAll();
		},
		payer,
		subscribed,
		/** A new owner with a paid subscription, whose card declines from then on, some days later. */
		pastDue: async (days: number, plan?: string) => {
			const owner = await subscribed(plan);
			await setCard(owner, 'declines');
			await deliverAfter(days);
			return owner;
		},
		idsOf,
		setCard,
		chargesOf: ({organization: {id}}: Whose) => stripe.charges.filter(({organizationId}) => organizationId === id),
		pass,
		deliverAfter,
		stop: async () => {
			await portal.stop();
			await stripe.stop();
		},
	};
};
