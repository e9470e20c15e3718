import {runBillingJobs} from '../../src/billing/jobs/billing-jobs.ts';
import {type FakePaymob, type FakePaymobOptions, startFakePaymob} from '../fakes/paymob/paymob.ts';
import {admin} from '../helpers/callers.ts';
import {type Member, member, type Portal, startPortal} from '../helpers/portal.ts';
import {createFakeClock, type FakeClock} from '../helpers/service.ts';

export const DAY = 86_400;
export const MINUTE = 60;

/** Prices of the shipped plans, in piasters. */
export const SOLO = 90_000;
export const GROWTH = 380_000;
export const SCALE = 1_450_000;

/** The service with gateway B, which is a fake that speaks the real wire format. */
export type PaymobStage = {portal: Portal; paymob: FakePaymob; clock: FakeClock; stop(): Promise<void>};

export const startPaymobStage = async ({
	env = {},
	at,
	...options
}: Partial<FakePaymobOptions> & {env?: Record<string, string>; at?: Date} = {}): Promise<PaymobStage> => {
	const clock = createFakeClock(at);
	const paymob = await startFakePaymob({clock, ...options});
	const portal = await startPortal(
		{...paymob.env, BILLING_RETURN_URL: 'https://portal.example.com/billing', ...env},
		clock,
	);
	await portal.services.background.settle();
	return {
		portal,
		paymob,
		clock,
		stop: async () => {
			await portal.stop();
			await paymob.stop();
		},
	};
};

const stages = new Map<string, PaymobStage>();

/**
 * A stage for a test that moves the clock: as if it were new, but the same one for the serial tests of a file, because
 * starting a service takes longer than most of them. @param at when the test begins.
 */
export const freshStage = async ({
	at = new Date('2026-03-10T12:00:00.000Z'),
	...options
}: Pick<FakePaymobOptions, 'settings'> & {hasMoto?: boolean; at?: Date} = {}): Promise<PaymobStage> => {
	const key = JSON.stringify(options);
	const stage = stages.get(key) ?? (await startPaymobStage(options));
	stages.set(key, stage);
	const {portal, paymob, clock} = stage;
	await portal.services.background.settle();
	for (const table of ['gateway_events', 'payment_reversals', 'billing_attempts', 'subscriptions']) {
		await portal.services.db(table).delete();
	}

	clock.set(at);
	paymob.clearFaults();
	paymob.events.splice(0);
	paymob.calls.splice(0);
	return stage;
};

/** Ends them, for the hook of a file; the next file of the process has its own. */
export const stopStages = async (): Promise<void> => {
	const ending = [...stages.values()];
	stages.clear();
	await Promise.all(ending.map(({stop}) => stop()));
};

/** An owner of an organization that has not chosen a plan yet. */
export const newOwner = (stage: PaymobStage): Promise<Member> => member(stage.portal, {role: 'owner', plan: null});

export const checkout = ({caller}: Pick<Member, 'caller'>, plan: string, currency = 'EGP') =>
	caller.post('/portal/billing/checkout-session', {plan, currency});

export const changePlan = ({caller}: Pick<Member, 'caller'>, plan: string) =>
	caller.post('/portal/billing/change-plan', {plan});

/** Delivers what the gateway has to tell, oldest first, and waits for what that set off. @returns the statuses. */
export const deliverAll = async ({paymob, portal}: PaymobStage): Promise<number[]> => {
	const statuses = (await paymob.deliver(portal)).map(({status}) => status);
	await portal.services.background.settle();
	return statuses;
};

/**
 * Delivers what the gateway has to tell of one checkout, oldest first, and waits for what that set off: tests that share
 * a stage leave each other's events alone. @returns the statuses.
 */
export const deliverOf = async ({paymob, portal}: PaymobStage, sessionId: string): Promise<number[]> => {
	const events = paymob.eventsAbout(sessionId);
	const statuses = events.length === 0 ? [] : (await paymob.deliver(portal, ...events)).map(({status}) => status);
	await portal.services.background.settle();
	return statuses;
};

/** What a minute does by itself. The service's own minute may do a part of it, and is waited for. */
export const runMinute = async ({services}: Pick<Portal, 'services'>): Promise<void> => {
	await runBillingJobs(services);
	await services.background.settle();
};

/** As `runMinute`, with what it sets off at the gateway. */
export const runJobs = async (stage: PaymobStage): Promise<void> => {
	await runMinute(stage.portal);
	await deliverAll(stage);
};

/** Somebody who pays by gateway B, from now on. @returns the owner and what the checkout answered. */
export const subscribed = async (stage: PaymobStage, {plan = 'GROWTH', saveCard = true} = {}) => {
	const owner = await newOwner(stage);
	const {body} = await checkout(owner, plan);
	const payment = stage.paymob.pay(body.sessionId, {saveCard});
	await deliverOf(stage, body.sessionId);
	return {...owner, checkout: body, payment};
};

/** What the portal says of the subscription. */
export const subscriptionOf = async ({caller}: Pick<Member, 'caller'>) =>
	(await caller.get('/portal/billing/subscription')).body.subscription;

export const activeOf = async ({caller}: Pick<Member, 'caller'>) =>
	(await caller.get('/portal/billing/subscription/active')).body.subscription;

/** What the portal says of the organization's plan. */
export const planOf = async ({caller}: Pick<Member, 'caller'>) => (await caller.get('/portal/organization')).body.plan;

export const invoicesOf = async ({caller}: Pick<Member, 'caller'>) =>
	(await caller.get('/portal/billing/invoices')).body.data as Array<{
		plan: string;
		amount: number;
		currency: string;
		periodStart: string;
		periodEnd: string;
	}>;

/** The token of the card that was saved last. */
export const savedCard = ({paymob}: PaymobStage): string => [...paymob.merchant.savedCards.keys()].at(-1) ?? '';

/** Money of an organization that the gateway holds: what was taken and not given back. */
export const heldFor = ({paymob}: PaymobStage, {organization}: Pick<Member, 'organization'>): number =>
	paymob.charges
		.filter(({organizationId}) => organizationId === organization.id)
		.reduce((sum, {amount, refunded}) => sum + amount - refunded, 0);

export type LedgerEvent = {id: string; outcome: string; reason: string; type: string; deliveries: number};

/** The operator's ledger of an organization's events, oldest first. */
export const ledgerOf = async (
	{portal}: PaymobStage,
	{organization}: Pick<Member, 'organization'>,
): Promise<LedgerEvent[]> => {
	const {body} = await admin(portal).get(`/admin/billing/events?limit=100&orgId=${organization.id}`);
	return (body.data as LedgerEvent[]).toReversed();
};

export const outcomesOf = async (stage: PaymobStage, owner: Pick<Member, 'organization'>): Promise<string[]> =>
	(await ledgerOf(stage, owner)).map(({outcome}) => outcome);
