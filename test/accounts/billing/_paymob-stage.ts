import {fail} from 'node:assert/strict';
import {runBillingJobs} from '../../../src/accounts/billing/jobs/billing-jobs.ts';
import {
	type FakePaymobOptions,
	type PaymobEvent,
	startFakePaymob,
	type Transaction,
} from '../../fakes/paymob/paymob.ts';
import {startPortal} from '../../helpers/portal.ts';
import {createFakeClock, type TestService} from '../../helpers/service.ts';
import {billingStage} from './_stage.ts';

/** Prices of the shipped plans, in piasters. */
export const SOLO = 90_000;
export const GROWTH = 380_000;
export const SCALE = 1_450_000;

/** Runs the jobs of a minute, and waits for their background work. The service's own minute may do a part of it. */
export const runMinute = async ({services}: Pick<TestService, 'services'>): Promise<void> => {
	await runBillingJobs(services);
	await services.background.settle();
};

/** The HMAC of a genuine callback over a body whose unsigned fields are changed. */
export const tampered = (event: PaymobEvent | undefined, changes: object): PaymobEvent => {
	const genuine = event ?? fail('there was no callback');
	const body = JSON.parse(genuine.body) as {obj: object};
	return {...genuine, body: JSON.stringify({...body, obj: {...body.obj, ...changes}})};
};

type Purchase = {plan?: string; saveCard?: boolean};
export type PaymobStage = Awaited<ReturnType<typeof startPaymobStage>>;

/** The service with gateway B, which is a fake that speaks the real wire format. */
export const startPaymobStage = async ({
	env = {},
	at,
	...options
}: Partial<FakePaymobOptions> & {env?: Record<string, string>; at?: Date} = {}) => {
	const clock = createFakeClock(at);
	const paymob = await startFakePaymob({clock, ...options});
	const portal = await startPortal(
		{...paymob.env, BILLING_RETURN_URL: 'https://portal.example.com/billing', ...env},
		clock,
	);
	const {background} = portal.services;
	await background.settle();
	const stage = billingStage(portal, 'EGP', paymob);

	/** Delivers events, oldest first, and waits for their background work. @returns the statuses of the answers. */
	const deliver = async (...events: PaymobEvent[]): Promise<number[]> => {
		const answers = await paymob.deliver(portal, ...events);
		await background.settle();
		return answers.map(({status}) => status);
	};
	/** Delivers the events of one checkout alone: tests that share a stage leave each other's events. */
	const deliverOf = async (sessionId: string): Promise<number[]> => {
		const events = paymob.eventsAbout(sessionId);
		return events.length === 0 ? [] : deliver(...events);
	};
	/** Moves the clock and runs the jobs. */
	const runAfter = async (seconds = 0): Promise<void> => {
		clock.advance(seconds);
		await runMinute(portal);
	};
	/** As `runAfter`, and delivers the events that it causes. */
	const runJobs = async (seconds = 0): Promise<void> => {
		await runAfter(seconds);
		await deliver();
	};

	return {
		...stage,
		paymob,
		clock,
		deliverAll: () => deliver(),
		deliverOf,
		runMinute: runAfter,
		runJobs,
		/** Runs the jobs several times, and moves the clock after each. @param run `runMinute` leaves their events. */
		keepRunning: async (times: number, seconds: number, run = runJobs): Promise<void> => {
			for (let time = 0; time < times; time += 1) {
				await run();
				clock.advance(seconds);
			}
		},
		/** A new owner with a paid subscription, the answer of the checkout and the payment. */
		subscribed: async ({plan = 'GROWTH', saveCard = true}: Purchase = {}) => {
			const owner = await stage.atCheckout(plan);
			const payment = paymob.pay(owner.checkout.sessionId, {saveCard});
			await deliverOf(owner.checkout.sessionId);
			return {...owner, payment};
		},
		/** Two checkouts of one owner: the second superseded the first. */
		twoCheckouts: async () => {
			const owner = await stage.newOwner();
			const {body: older} = await owner.openCheckout('SOLO');
			const {body: newer} = await owner.openCheckout('GROWTH');
			return {owner, older, newer};
		},
		pay: async (sessionId: string): Promise<Transaction> => {
			const payment = paymob.pay(sessionId);
			await deliverOf(sessionId);
			// A refund has events of its own.
			await deliverOf(sessionId);
			return payment;
		},
		/** A callback with a valid HMAC about a changed transaction. */
		forged: (transaction: Transaction, changes: Partial<Transaction>): PaymobEvent =>
			paymob.event('TRANSACTION', {...structuredClone(transaction), ...changes}),
		/** How the newest saved card answers charges from now on. */
		setCard: (card: Parameters<typeof paymob.setCard>[1]): void =>
			paymob.setCard([...paymob.merchant.savedCards.keys()].at(-1) ?? '', card),
		/** The bank decides on a payment. A refund has events of its own. */
		settle: async (transactionId: number): Promise<void> => {
			paymob.settle(transactionId, true);
			await deliver();
			await deliver();
		},
		/** The next charge of a saved card is made, and its answer lost. */
		loseChargeAnswer: () => paymob.fail({path: '/api/acceptance/payments/pay', drop: true, afterwards: true}),
		/** Inquiries about payments fail. */
		failInquiries: (times = Number.POSITIVE_INFINITY) =>
			paymob.fail({path: '/api/ecommerce/orders/transaction_inquiry', status: 503, times}),
		stop: async () => {
			await portal.stop();
			await paymob.stop();
		},
	};
};

type Fresh = Pick<FakePaymobOptions, 'settings'> & {hasMoto?: boolean; at?: Date};
const stages = new Map<string, PaymobStage>();

/**
 * A stage for a test that moves the clock: as if it were new, but shared by the serial tests of a process, because starting
 * a service takes longer than most of them. @param at when the test begins.
 */
export const freshStage = async ({
	at = new Date('2026-03-10T12:00:00.000Z'),
	...options
}: Fresh = {}): Promise<PaymobStage> => {
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

/** A fresh stage and an owner with a subscription there. */
export const freshSubscriber = async (fresh: Fresh = {}, purchase: Purchase = {}) => {
	const stage = await freshStage(fresh);
	return {stage, owner: await stage.subscribed(purchase)};
};

/** For the hooks of files that share a process: the first stops all. */
export const stopStages = async (): Promise<void> => {
	const started = [...stages.values()];
	stages.clear();
	await Promise.all(started.map(({stop}) => stop()));
};
