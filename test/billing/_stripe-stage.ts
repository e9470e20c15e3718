import {type FakeStripe, type StripeEvent, startFakeStripe} from '../fakes/stripe/stripe.ts';
import {type Member, member, type Portal, startPortal} from '../helpers/portal.ts';
import {createFakeClock} from '../helpers/service.ts';

/** The service with gateway A, which is a fake that speaks the real wire format. */
export type StripeStage = {portal: Portal; stripe: FakeStripe; stop(): Promise<void>};

/** How the library calls the gateway: milliseconds that it waits, and how often it repeats a call by itself. */
export const setLibrary = (
	{portal}: Pick<StripeStage, 'portal'>,
	settings: {timeout?: number; maxNetworkRetries?: number},
): void => {
	const {stripe} = portal.services;
	if (stripe !== null) {
		Object.assign(Reflect.get(stripe, '_api') as object, settings);
	}
};

/** @param env variables that differ. The library does not repeat a call by itself here, so that a failure is quick. */
export const startStripeStage = async (env: Record<string, string> = {}): Promise<StripeStage> => {
	const clock = createFakeClock();
	const stripe = await startFakeStripe({clock});
	const portal = await startPortal(
		{...stripe.env, BILLING_RETURN_URL: 'https://portal.example.com/billing', ...env},
		clock,
	);
	setLibrary({portal}, {maxNetworkRetries: 0});
	return {
		portal,
		stripe,
		stop: async () => {
			await portal.stop();
			await stripe.stop();
		},
	};
};

/** An owner of an organization that has not chosen a plan yet. */
export const newOwner = (stage: StripeStage): Promise<Member> => member(stage.portal, {role: 'owner', plan: null});

/** Delivers what the gateway has to tell, oldest first. @returns the statuses of the answers. */
export const deliverAll = async ({stripe, portal}: StripeStage): Promise<number[]> =>
	(await stripe.deliver(portal)).map(({status}) => status);

/** Takes what the gateway has to tell, without delivering it. */
export const takeEvents = ({stripe}: StripeStage): StripeEvent[] => stripe.events.splice(0);

export const checkout = async ({caller}: Pick<Member, 'caller'>, plan = 'GROWTH', currency = 'USD') =>
	caller.post('/portal/billing/checkout-session', {plan, currency});

export const changePlan = ({caller}: Pick<Member, 'caller'>, plan: string) =>
	caller.post('/portal/billing/change-plan', {plan});

/** Somebody who pays by gateway A. @returns the owner and what the checkout answered. */
export const subscribed = async (stage: StripeStage, plan = 'GROWTH') => {
	const owner = await newOwner(stage);
	const {body: opened} = await checkout(owner, plan);
	stage.stripe.pay(opened.sessionId);
	await deliverAll(stage);
	return {...owner, checkout: opened};
};

/** What the portal says of the subscription. */
export const subscriptionOf = async ({caller}: Pick<Member, 'caller'>) =>
	(await caller.get('/portal/billing/subscription')).body.subscription;

/** What the portal says of the organization's plan. */
export const planOf = async ({caller}: Pick<Member, 'caller'>) => (await caller.get('/portal/organization')).body.plan;

/** The gateway's ids of what an organization has. */
export const idsOf = async ({portal}: StripeStage, {organization: {id}}: Pick<Member, 'organization'>) => {
	const row: {gateway_subscription_id: string; gateway_customer_id: string} = await portal.services
		.db('subscriptions')
		.where({organization_id: id})
		.first();
	return {subscription: row.gateway_subscription_id, customer: row.gateway_customer_id};
};

/** Seconds of a day. */
export const DAY = 86_400;

/** Lets time pass, and what it brings at the gateway. */
export const pass = ({portal, stripe}: StripeStage, days: number): void => {
	portal.clock.advance(days * DAY);
	stripe.advance();
};
