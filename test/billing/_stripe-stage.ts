import {type FakeStripe, startFakeStripe} from '../fakes/stripe/stripe.ts';
import {type Member, member, type Portal, startPortal} from '../helpers/portal.ts';
import {createFakeClock} from '../helpers/service.ts';

/** The service with gateway A, which is a fake that speaks the real wire format. */
export type StripeStage = {portal: Portal; stripe: FakeStripe; stop(): Promise<void>};

export const startStripeStage = async (env: Record<string, string> = {}): Promise<StripeStage> => {
	const clock = createFakeClock();
	const stripe = await startFakeStripe({clock});
	const portal = await startPortal(
		{...stripe.env, BILLING_RETURN_URL: 'https://portal.example.com/billing', ...env},
		clock,
	);
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

/** Somebody who pays by gateway A. @returns the owner and what the checkout answered. */
export const subscribed = async (stage: StripeStage, plan = 'GROWTH') => {
	const owner = await newOwner(stage);
	const {body: checkout} = await owner.caller.post('/portal/billing/checkout-session', {plan, currency: 'USD'});
	stage.stripe.pay(checkout.sessionId);
	await deliverAll(stage);
	return {...owner, checkout};
};

/** What the portal says of the subscription. */
export const subscriptionOf = async ({caller}: Pick<Member, 'caller'>) =>
	(await caller.get('/portal/billing/subscription')).body.subscription;

/** What the portal says of the organization's plan. */
export const planOf = async ({caller}: Pick<Member, 'caller'>) => (await caller.get('/portal/organization')).body.plan;
