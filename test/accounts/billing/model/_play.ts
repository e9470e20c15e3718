import {deleteOrganization} from '../../../../src/accounts/administration/organization-operations.ts';
import {adminBearer, type Caller} from '../../../../src/accounts/audit/audit-log.ts';
import {cancelSubscription, resumeSubscription} from '../../../../src/accounts/billing/cancel-subscription.ts';
import {changePlan} from '../../../../src/accounts/billing/change-plan.ts';
import {startCheckout} from '../../../../src/accounts/billing/checkout.ts';
import {runBillingJobs} from '../../../../src/accounts/billing/jobs/billing-jobs.ts';
import {payRenewal} from '../../../../src/accounts/billing/pay-renewal.ts';
import {setOrganizationPlan} from '../../../../src/accounts/billing/set-plan.ts';
import type {Organization} from '../../../../src/accounts/organizations/organization-store.ts';
import {HttpError} from '../../../../src/platform/errors.ts';
import {deliver, forgetDelivered, type Mail, newMail} from './_mail.ts';
import {look} from './_seen.ts';
import type {Step} from './_steps.ts';
import type {World} from './_world.ts';

/** Actions of the customer on a hosted page; the page may refuse them. */
const atThePage = (play: Play, tab: number | undefined, act: (tab: Tab) => unknown): void => {
	const page = play.tabs.at(-1 - (tab ?? 0));
	if (page !== undefined) {
		person(() => act(page));
	}
};

const person = (act: () => unknown): void => {
	try {
		act();
	} catch {
		// The page says that it is not possible.
	}
};

const customersCards = ({world: {stripe, paymob}}: Play, does: 'works' | 'declines' | 'hesitates'): void => {
	for (const id of stripe.account.customers.keys()) {
		stripe.setCard(id, does === 'hesitates' ? 'requires_action' : does);
	}

	for (const token of paymob.merchant.savedCards.keys()) {
		paymob.setCard(token, does === 'hesitates' ? 'pending' : does);
	}
};

/** Whether Paymob's page still offers it. */
const isPayable = ({world: {paymob}, mail}: Play, ref: string): boolean =>
	![...mail.unreported].some((orderId) => paymob.merchant.intentions.get(orderId)?.id === ref);

const PEOPLES = ['pay', 'decline', 'linger', 'bank', 'card', 'leave', 'refund', 'void'] as const;
type OfPeople = Extract<Step, {do: (typeof PEOPLES)[number]}>;

const isOfPeople = (step: Step): step is OfPeople => PEOPLES.some((one) => one === step.do);

/** An action of the customer, the bank, or somebody at a gateway's dashboard. */
const actAsPeople = (play: Play, step: OfPeople): unknown => {
	const {stripe, paymob} = play.world;
	switch (step.do) {
		case 'pay':
			return atThePage(play, step.tab, ({gateway, ref}) =>
				gateway === 'GATEWAY_A'
					? stripe.pay(ref, ...(step.delayed === true && ref.startsWith('cs_') ? (['delayed'] as const) : []))
					: isPayable(play, ref) && paymob.pay(ref, {saveCard: step.save === true}),
			);
		case 'decline':
			return atThePage(play, step.tab, ({gateway, ref}) =>
				gateway === 'GATEWAY_A' ? stripe.decline(ref) : isPayable(play, ref) && paymob.decline(ref),
			);
		case 'linger':
			return atThePage(play, step.tab, ({gateway, ref}) =>
				gateway === 'GATEWAY_A' ? null : isPayable(play, ref) && paymob.startPaying(ref),
			);
		case 'bank': {
			const pending = [...paymob.merchant.transactions.values()].find((one) => one.pending);
			const delayed = [...stripe.account.sessions.values()].find(
				(one) => one.status === 'complete' && one.payment_status === 'unpaid',
			);
			return person(() =>
				pending === undefined
					? delayed !== undefined && stripe.settle(delayed.id, step.ok)
					: paymob.settle(pending.id, step.ok),
			);
		}
		case 'card':
			return customersCards(play, step.does);
		case 'leave': {
			const running = [...stripe.account.subscriptions.values()].find(({status}) => status === 'active');
			return person(() => running !== undefined && stripe.cancelInPortal(running.id));
		}
		default: {
			const taken = paymob.charges.findLast(({refunded}) => refunded === 0);
			return person(() => taken !== undefined && paymob[step.do](taken.transactionId));
		}
	}
};

/** A page on which the customer can pay, and the plan that it shows. */
export type Tab = {gateway: 'GATEWAY_A' | 'GATEWAY_B'; ref: string};

/** The state of one sequence that the world does not have. */
export type Play = {
	world: World;
	organization: Organization;
	tabs: Tab[];
	mail: Mail;
	/** Answers that must never occur, found on the way. */
	faults: string[];
	/** What ops set, and in which step; a service that died meanwhile may have done it or not. */
	opsSets: Array<{plan: string | null; step: number; isCertain: boolean}>;
	deletedAt: number | null;
	/** Of the step that runs. */
	step: number;
};

const by: Caller = {actor: {type: 'USER', id: null, name: 'Owner'}, requestId: null};
const operator: Caller = {actor: adminBearer, requestId: null};

export const newPlay = async (world: World): Promise<Play> => ({
	world,
	organization: await world.begin(),
	tabs: [],
	mail: newMail(world),
	faults: [],
	opsSets: [],
	deletedAt: null,
	step: 0,
});

/**
 * Statuses that routes of billing may answer with (contract/billing 1); anything else that is thrown is a fault of
 * ours.
 */
const EXPECTED = [400, 402, 403, 404, 409, 502, 503];

/** Makes a request as a route would. An error of a killed service is ignored. */
const ask = async <T>(play: Play, what: string, run: () => Promise<T>): Promise<T | null> => {
	try {
		const answer = await run();
		return play.world.death.isDead() ? null : answer;
	} catch (error) {
		const isAnswer = error instanceof HttpError && EXPECTED.includes(error.status);
		if (!isAnswer && !play.world.death.isDead()) {
			play.faults.push(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
		}

		return null;
	}
};

const opened = (play: Play, result: Awaited<ReturnType<typeof startCheckout>> | null): void => {
	if (result?.checkoutUrl != null && result.gateway !== 'MANUAL') {
		play.tabs.push({gateway: result.gateway, ref: result.sessionId ?? ''});
	}
};

/** The jobs, as the service runs them every minute. */
export const runJobs = async (play: Play): Promise<void> => {
	const {stripe, services} = play.world;
	stripe.advance();
	await ask(play, 'the jobs', () => runBillingJobs(services));
	await services.background.settle();
};

const routes = async (play: Play, step: Step): Promise<unknown> => {
	const {services, death} = play.world;
	const {organization} = play;
	// Then no session and no path names it any more.
	if (play.deletedAt !== null) {
		return;
	}

	switch (step.do) {
		case 'checkout':
			return opened(play, await ask(play, step.do, () => startCheckout(services, {organization, by, ...step})));
		case 'change': {
			const change = {organization, by, currency: 'USD', ...step} as const;
			return opened(play, await ask(play, step.do, () => changePlan(services, change)));
		}
		case 'cancel':
			return ask(play, step.do, () => cancelSubscription(services, {organization, by}));
		case 'resume':
			return ask(play, step.do, () => resumeSubscription(services, {organization, by}));
		case 'renew':
			return opened(play, await ask(play, step.do, () => payRenewal(services, {organization, by})));
		case 'ops': {
			const {plan} = step;
			const set = await ask(play, step.do, () => setOrganizationPlan(services, {organization, by: operator, plan}));
			if (set !== null || death.isDead()) {
				play.opsSets.push({plan, step: play.step, isCertain: set !== null});
			}

			return;
		}
		case 'delete': {
			const gone = await ask(play, step.do, () => deleteOrganization(services, {organization, by: operator}));
			play.deletedAt = gone === null ? play.deletedAt : play.step;
			return;
		}
		default:
			throw new Error(`There is no route for ${step.do}`);
	}
};

/** Waits until all events are delivered and nothing more happens within hours. */
const settle = async (play: Play): Promise<void> => {
	const {world, mail} = play;
	world.death.clearFaults();
	mail.eager = false;
	await deliver(play, 'old ones again');
	// The lease of a dead process, an inquiry, the end of a checkout, the longest pause before a refund.
	for (const minutes of [2, 16, 61, 400]) {
		world.clock.advance(minutes * 60);
		await runJobs(play);
		await deliver(play, 'lost ones');
		forgetDelivered(play);
		if (mail.lost.length === 0 && mail.waiting.length === 0 && !(await look(play)).isUnsettled) {
			break;
		}
	}
};

const act = async (play: Play, step: Step): Promise<unknown> => {
	const {stripe, paymob, clock, death, services} = play.world;
	switch (step.do) {
		case 'deliver':
			return deliver(play, step.how ?? 'in order');
		case 'eager':
			play.mail.eager = step.on;
			return;
		case 'fault': {
			let left = step.after ?? 0;
			const when = () => left-- === 0;
			const how = step.how === 'refuse' ? {status: 500} : {drop: true, afterwards: step.how === 'drop after'};
			return (step.gateway === 'A' ? stripe : paymob).fail({when, ...how});
		}
		case 'wait':
			clock.advance(step.minutes * 60);
			return runJobs(play);
		case 'crash': {
			const died = await death.at(step.at, async () => {
				await perform(play, step.during);
				await play.mail.underWay();
				await services.background.settle();
			});
			if (died) {
				// Longer than a lease of the dead lives.
				clock.advance(61);
				await runJobs(play);
			}

			return;
		}
		case 'together':
			return Promise.all(step.steps.map((one) => perform(play, one)));
		case 'quiet':
			return settle(play);
		default:
			return isOfPeople(step) ? actAsPeople(play, step) : routes(play, step);
	}
};

/** Does one step. */
export const perform = async (play: Play, step: Step): Promise<void> => {
	await act(play, step);
	await play.mail.underWay();
	await play.world.services.background.settle();
	forgetDelivered(play);
};
