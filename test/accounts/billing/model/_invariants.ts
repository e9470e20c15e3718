import {type Payment, paymentsOf, runningAtStripe} from './_money.ts';
import type {Play} from './_play.ts';
import {keyOf, look, type Memory, rankOf, remember, type Seen, usedPlan} from './_seen.ts';

const DAY_MS = 86_400_000;
/** The longest month, a grace for the late event of a renewal, and one after its failure. */
const MONTH_MS = 31 * DAY_MS;
const GRACE_MS = 14 * DAY_MS + 3_600_000;

/** Nothing is used without a payment or a plan that ops set. */
const unpaidUse = (play: Play, memory: Memory, seen: Seen, payments: Payment[]): string | null => {
	const used = usedPlan(play, seen);
	const rank = rankOf(play, used);
	if (rank === 0) {
		return null;
	}

	const now = play.world.clock.now().getTime();
	const set = play.opsSets.findLast(({isCertain}) => isCertain);
	const isSet = ({plan, step}: (typeof play.opsSets)[number]) => plan === used && step >= (set?.step ?? 0);
	if (play.opsSets.some(isSet)) {
		return null;
	}

	const counted = payments.flatMap((payment) => {
		const found = memory.countedAt.get(keyOf(payment.gateway, payment.id));
		return found === undefined ? [] : [{...payment, ...found}];
	});
	const months = counted.filter(({kind}) => kind === 'month');
	const monthEnd = ({at, until}: (typeof counted)[number]) => Math.max(at.getTime() + MONTH_MS, until?.getTime() ?? 0);
	const endOf = (payment: (typeof counted)[number]) =>
		payment.kind === 'month'
			? monthEnd(payment)
			: Math.max(payment.until?.getTime() ?? 0, ...months.map((month) => monthEnd(month)));
	const pays = counted.some(
		(payment) =>
			rankOf(play, payment.plan) >= rank &&
			(set === undefined || payment.step >= set.step) &&
			now < endOf(payment) + GRACE_MS,
	);
	return pays ? null : `${used} is used, and nobody pays for it`;
};

/** Every invoice is money that was taken, and as much. */
const inventedMoney = (_: Play, __: Memory, {invoices}: Seen, payments: Payment[]): string | null => {
	const wrong = invoices.find(({gateway, gateway_invoice_id: id, amount_minor: amount}) => {
		const payment = payments.find((one) => one.gateway === gateway && one.id === id);
		return (payment?.amount ?? 0) !== Number(amount);
	});
	return wrong === undefined ? null : `the invoice ${wrong.gateway_invoice_id} is not the money that was taken`;
};

/** No more is refunded than was charged. */
const refundedTwice = (_: Play, __: Memory, ___: Seen, payments: Payment[]): string | null => {
	const wrong = payments.find(({kept}) => kept < 0);
	return wrong === undefined ? null : `more was given back than ${wrong.id} took`;
};

type Rule = (play: Play, memory: Memory, seen: Seen, payments: Payment[]) => string | null | Promise<string | null>;

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
const paidTwice: Rule = (play, memory, {invoices}, payments) => {
	const kept = payments.filter((one) => one.kept > 0);
	const attempts = kept.flatMap(({attemptId}) => (attemptId === null ? [] : [attemptId]));
	const twice = attempts.find((id, index) => attempts.indexOf(id) !== index);
	// A deleted organization is entitled to nothing; its ledger is checked separately.
	if (twice !== undefined && play.deletedAt === null) {
		return `the attempt ${twice} was paid twice, and both payments are kept`;
	}

	const spans = kept.flatMap(({gateway, id, kind, plan}) => {
		const invoice = invoices.find((one) => one.gateway === gateway && one.gateway_invoice_id === id);
		const steps = {
			taken: memory.takenIn.get(keyOf(gateway, id)) ?? 0,
			counted: memory.countedAt.get(keyOf(gateway, id))?.step ?? 0,
		};
		const [start, end] = [invoice?.period_start, invoice?.period_end];
		return start == null || end == null ? [] : [{id, kind, plan, steps, start: start.getTime(), end: end.getTime()}];
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
	const now = play.world.clock.now().getTime();
	const rank = rankOf(play, usedPlan(play, seen));
	const lastSet = play.opsSets.at(-1)?.step ?? -1;
	if (play.deletedAt !== null) {
		return null;
	}

	const unused = payments.find(({gateway, id, kept, kind, plan, until, endedAt}) => {
		const invoice = seen.invoices.find((one) => one.gateway === gateway && one.gateway_invoice_id === id);
		const step = Math.max(
			memory.takenIn.get(keyOf(gateway, id)) ?? 0,
			memory.countedAt.get(keyOf(gateway, id))?.step ?? 0,
		);
		const end = gateway === 'GATEWAY_A' ? until : invoice?.period_end;
		const monthGivenBack =
			kind === 'rest' && !payments.some((one) => one.kind === 'month' && one.gateway === gateway && one.kept > 0);
		return (
			kept > 0 &&
			invoice !== undefined &&
			!monthGivenBack &&
			step > lastSet &&
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
