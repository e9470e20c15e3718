import type {Play, Tab} from './_play.ts';
import type {Step} from './_steps.ts';

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

export const isOfPeople = (step: Step): step is OfPeople => PEOPLES.some((one) => one === step.do);

/** An action of the customer, the bank, or somebody at a gateway's dashboard. */
export const actAsPeople = (play: Play, step: OfPeople): unknown => {
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
