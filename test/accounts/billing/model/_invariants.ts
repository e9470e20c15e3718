import {type Payment, paymentsOf, runningAtStripe} from './_money.ts';
import type {Play} from './_play.ts';
import {keyOf, look, type Memory, rankOf, remember, type Seen, usedPlan} from './_seen.ts';

const DAY_MS = 86_400_000;
/** The longest month, a grace for the late event of a renewal, and one after its failure. */
const MONTH_MS = 31 * DAY_MS;
const GRACE_MS = 14 * DAY_MS + 3_600_000;

type Rule = (play: Play, memory: Memory, seen: Seen, payments: Payment[]) => string | null | Promise<string | null>;

/** The invoice of a payment, and the steps in which it was taken, and began to count. */
const recordsOf = ({gateway, id}: Payment, {takenIn, countedAt}: Memory, {invoices}: Seen) => ({
	invoice: invoices.find((one) => one.gateway === gateway && one.gateway_invoice_id === id),
	taken: takenIn.get(keyOf(gateway, id)) ?? 0,
	counted: countedAt.get(keyOf(gateway, id))?.step ?? 0,
});

/** Nothing is used without a payment or a plan that ops set. */
const unpaidUse: Rule = (play, memory, seen, payments) => {
	const used = usedPlan(play, seen);
	const rank = rankOf(play, used);
	const set = play.opsSets.findLast(({isCertain}) => isCertain);
	if (rank === 0 || play.opsSets.some(({plan, step}) => plan === used && step >= (set?.step ?? 0))) {
		return null;
	}

	const now = play.world.clock.now().getTime();
	const counted = payments.flatMap((payment) => {
		const found = memory.countedAt.get(keyOf(payment.gateway, payment.id));
		return found === undefined ? [] : [{...payment, ...found}];
	});
	type Counted = (typeof counted)[number];
	const monthEnd = ({at, until}: Counted) => Math.max(at.getTime() + MONTH_MS, until?.getTime() ?? 0);
	const monthEnds = counted.filter(({kind}) => kind === 'month').map(monthEnd);
	const endOf = (payment: Counted) =>
		payment.kind === 'month' ? monthEnd(payment) : Math.max(payment.until?.getTime() ?? 0, ...monthEnds);
	const pays = (payment: Counted) =>
		rankOf(play, payment.plan) >= rank &&
		(set === undefined || payment.step >= set.step) &&
		now < endOf(payment) + GRACE_MS;
	return counted.some(pays) ? null : `${used} is used, and nobody pays for it`;
};

/** Every invoice is money that was taken, and as much. */
const inventedMoney: Rule = (_, __, {invoices}, payments) => {
	const wrong = invoices.find(({gateway, gateway_invoice_id: id, amount_minor: amount}) => {
		const payment = payments.find((one) => one.gateway === gateway && one.id === id);
		return (payment?.amount ?? 0) !== Number(amount);
	});
	return wrong === undefined ? null : `the invoice ${wrong.gateway_invoice_id} is not the money that was taken`;
};

/** No more is refunded than was charged. */
const refundedTwice: Rule = (_, __, ___, payments) => {
	const wrong = payments.find(({kept}) => kept < 0);
	return wrong === undefined ? null : `more was given back than ${wrong.id} took`;
};

/** Money that is kept entitles; other payments are refunded, or wait for review. */
const forgottenMoney: Rule = async (play, memory, _, payments) => {
	const {db} = play.world.services;
	for (const {gateway, id, attemptId, kept} of payments) {
		// Also what went with a deleted organization: it had been counted.
		const isCounted = memory.countedAt.has(keyOf(gateway, id));
		// An order of a deleted organization is unknown (contract/billing 9): UNMATCHED, if its callback ever comes.
		const isUnknown = gateway === 'GATEWAY_B' && play.deletedAt !== null;
		if (kept === 0 || isCounted || isUnknown) {
			continue;
		}

		const reviewed = await db('gateway_events')
			.where({gateway, outcome: 'REVIEW'})
			.whereRaw('(attempt_id::text = ? OR payload LIKE ?)', [attemptId, `%${id}%`])
			.first();
		if (reviewed === undefined) {
			return `${gateway} keeps ${kept} of ${id}, for which nobody has anything`;
		}
	}

	return null;
};

/** Two payments for the same time. */
const paidTwice: Rule = (play, memory, seen, payments) => {
	const kept = payments.filter((one) => one.kept > 0);
	const attempts = kept.flatMap(({attemptId}) => (attemptId === null ? [] : [attemptId]));
	const twice = attempts.find((id, index) => attempts.indexOf(id) !== index);
	// A deleted organization is entitled to nothing; its ledger is checked separately.
	if (twice !== undefined && play.deletedAt === null) {
		return `the attempt ${twice} was paid twice, and both payments are kept`;
	}

	const spans = kept.flatMap((payment) => {
		const {invoice, ...steps} = recordsOf(payment, memory, seen);
		const [start, end] = [invoice?.period_start, invoice?.period_end];
		return start == null || end == null ? [] : [{...payment, steps, start: start.getTime(), end: end.getTime()}];
	});
	const isReset = (from: number, to: number): boolean =>
		play.opsSets.some(({step}) => step >= Math.min(from, to) && step <= Math.max(from, to));
	for (const [index, one] of spans.entries()) {
		const other = spans.slice(index + 1).find(
			({kind, plan, start, end, steps}) =>
				kind === one.kind &&
				(kind === 'month' ? start < one.end && one.start < end : plan === one.plan && end === one.end) &&
				// A plan that ops set ended earlier payments, in whatever order their events came.
				!isReset(steps.taken, one.steps.taken) &&
				!isReset(steps.counted, one.steps.counted),
		);
		if (other !== undefined) {
			return `${one.id} and ${other.id} were both taken for the same time`;
		}
	}

	return null;
};

/** At most one subscription is paid, and it is the one that the row is about. */
const secondSubscription: Rule = (play, _, seen) => {
	const {row} = seen;
	const running = runningAtStripe(play.world.stripe);
	const isLive = row !== null && ['ACTIVE', 'PAST_DUE'].includes(row.status);
	const stray = running.find(({id}) => !(isLive && row.gateway === 'GATEWAY_A' && row.gateway_subscription_id === id));
	if (stray !== undefined) {
		return `gateway A goes on to charge for ${stray.id}, the row is ${row?.status} at ${row?.gateway}`;
	}

	return isLive && row.gateway === 'GATEWAY_A' && running.length === 0
		? `the row is ${row.status}, and gateway A knows of no subscription`
		: null;
};

/** An ACTIVE subscription is paid for the current period (contract/billing 4), whatever its plan changes. */
const unpaidPeriod: Rule = (_, __, {row}, payments) => {
	const isActive = row?.gateway === 'GATEWAY_A' && row.status === 'ACTIVE';
	const end = row?.current_period_end?.getTime();
	const pays = ({gateway, kind, kept, until}: Payment): boolean =>
		gateway === 'GATEWAY_A' && kind === 'month' && kept > 0 && until?.getTime() === end;
	return isActive && !payments.some(pays) ? 'the row is ACTIVE, and its period was not paid' : null;
};

/** A paid plan entitles. */
const unusedMoney: Rule = (play, memory, seen, payments) => {
	if (play.deletedAt !== null) {
		return null;
	}

	const now = play.world.clock.now().getTime();
	const rank = rankOf(play, usedPlan(play, seen));
	const lastSet = play.opsSets.at(-1)?.step ?? -1;
	const isMonthKept = (gateway: Payment['gateway']) =>
		payments.some((one) => one.kind === 'month' && one.gateway === gateway && one.kept > 0);
	const unused = payments.find((payment) => {
		const {gateway, kept, kind, plan, until, endedAt} = payment;
		const {invoice, taken, counted} = recordsOf(payment, memory, seen);
		const end = gateway === 'GATEWAY_A' ? until : invoice?.period_end;
		return (
			kept > 0 &&
			invoice !== undefined &&
			(kind === 'month' || isMonthKept(gateway)) &&
			Math.max(taken, counted) > lastSet &&
			(end?.getTime() ?? 0) > now &&
			endedAt === null &&
			rankOf(play, plan) > rank
		);
	});
	return unused === undefined ? null : `${unused.plan} is paid by ${unused.id}, and cannot be used`;
};

/** Every event was taken in the end. */
const refusedEvents: Rule = ({mail: {lost, refusal}}) =>
	lost.length === 0 ? null : `${lost.length} events are refused for ever: ${refusal}`;

const always: Rule[] = [unpaidUse, inventedMoney, refundedTwice];
const whenQuiet: Rule[] = [refusedEvents, forgottenMoney, paidTwice, secondSubscription, unpaidPeriod, unusedMoney];

/** The broken rule, or null. @param quiet everything was delivered, and nothing is in progress. */
export const check = async (play: Play, memory: Memory, quiet: boolean): Promise<string | null> => {
	const seen = await look(play);
	const payments = paymentsOf(play.world, play.world.services.config.plans);
	remember(play, memory, seen, payments);
	const [fault] = play.faults;
	if (fault !== undefined) {
		return fault;
	}

	for (const rule of [...always, ...(quiet ? whenQuiet : [])]) {
		const wrong = await rule(play, memory, seen, payments);
		if (wrong !== null) {
			return wrong;
		}
	}

	return null;
};
