import type {PaymobEvent} from '../../../fakes/paymob/paymob.ts';
import type {StripeEvent} from '../../../fakes/stripe/stripe.ts';
import type {Play} from './_play.ts';
import type {Step} from './_steps.ts';
import type {World} from './_world.ts';

export type Letter = {gateway: 'A'; event: StripeEvent} | {gateway: 'B'; event: PaymobEvent};

/** The events of the gateways. */
export type Mail = ReturnType<typeof newMail>;

export const newMail = ({stripe, paymob}: World) => {
	const running = new Set<Promise<void>>();
	return {
		/** Not delivered yet, oldest first. */
		waiting: [] as Letter[],
		/** Lost on the way, or refused: the gateway may try again. */
		lost: [] as Letter[],
		delivered: [] as Letter[],
		/** Orders of Paymob whose callback is lost: their pages say that they are paid. */
		unreported: new Set<number>(),
		/** The answer to the latest failed delivery. */
		refusal: null as string | null,
		/** Whether each is delivered as it happens. */
		eager: false,
		/** Resolves when the present delivery has ended. */
		underWay: async (): Promise<void> => {
			while (running.size > 0) {
				await Promise.all(running);
			}
		},
		/** Delivers in the background. */
		start: (work: Promise<void>): void => {
			const tracked = work.finally(() => running.delete(tracked));
			running.add(tracked);
		},
		/** Called with each; set by the play. */
		onLetter: (listener: (letter: Letter) => void): void => {
			stripe.onEvent((event) => listener({gateway: 'A', event}));
			paymob.onEvent((event) => listener({gateway: 'B', event}));
		},
	};
};

/** One delivery. Without a 200 it is repeated, as the gateways do. */
export const receive = async ({world, mail}: Play, letter: Letter): Promise<void> => {
	const {services, stripe, paymob, death} = world;
	const rawBody = Buffer.from(letter.event.body);
	try {
		const {GATEWAY_A, GATEWAY_B} = services.gateways;
		if (letter.gateway === 'A') {
			await GATEWAY_A?.receive(services, {rawBody, headers: {...stripe.sign(letter.event).headers}, query: {}});
		} else {
			await GATEWAY_B?.receive(services, {rawBody, headers: {}, query: {...paymob.sign(letter.event).query}});
		}

		(death.isDead() ? mail.lost : mail.delivered).push(letter);
	} catch (error) {
		mail.lost.push(letter);
		mail.refusal = `${letter.event.type}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
	}
};

const inTurn = async (play: Play, letters: readonly Letter[]): Promise<void> => {
	for (const letter of letters) {
		await receive(play, letter);
	}
};

/** Paymob may never repeat a callback; it can be asked for the latest transaction of an order, and for its cards. */
const canBeAskedFor = ({world: {paymob}, mail}: Play, {gateway, event}: Letter): boolean => {
	if (gateway === 'A' || 'token' in event.object) {
		return gateway === 'B';
	}

	const {order, is_refunded: isRefunded, is_voided: isVoided} = event.object;
	const ofOrder = [...paymob.merchant.transactions.values()].filter((one) => one.order.id === order.id);
	const canBe = ofOrder.length === 1 && !isRefunded && !isVoided;
	if (canBe) {
		mail.unreported.add(order.id);
	}

	return canBe;
};

type How = NonNullable<Extract<Step, {do: 'deliver'}>['how']> | 'lost ones';

const take = (letters: Letter[]): Letter[] => letters.splice(0);

const ways: Record<How, (play: Play) => unknown> = {
	'in order': async (play) => {
		for (let round = 0; play.mail.waiting.length > 0 && round < 10; round += 1) {
			await inTurn(play, take(play.mail.waiting));
		}
	},
	backwards: (play) => inTurn(play, take(play.mail.waiting).reverse()),
	newest: (play) => inTurn(play, play.mail.waiting.splice(-1)),
	oldest: (play) => inTurn(play, play.mail.waiting.splice(0, 1)),
	twice: async (play) => {
		const letters = take(play.mail.waiting);
		await Promise.all(letters.map((letter) => receive(play, letter)));
		await inTurn(play, letters);
	},
	lose: ({mail}) => mail.lost.push(...take(mail.waiting)),
	'lose for good': (play) => {
		play.mail.lost.push(...take(play.mail.waiting).filter((letter) => !canBeAskedFor(play, letter)));
	},
	'lost ones': async (play) => {
		await inTurn(play, take(play.mail.lost));
		await deliver(play, 'in order');
	},
	'old ones again': async (play) => {
		await inTurn(play, play.mail.delivered.slice(-2));
		await deliver(play, 'lost ones');
	},
};

/** Delivers what waits, and what comes of that. */
export const deliver = async (play: Play, how: How): Promise<void> => {
	await ways[how](play);
};

/** Notes what happened at the gateways, delivered or not. */
export const openMail = (play: Play): void => {
	play.mail.onLetter((letter) => {
		if (play.mail.eager) {
			play.mail.start(receive(play, letter));
		} else {
			play.mail.waiting.push(letter);
		}
	});
};

/** Each is kept once. */
export const forgetDelivered = ({mail}: Play): void => {
	mail.delivered.splice(0, mail.delivered.length, ...new Set(mail.delivered));
	const seen = new Set(mail.delivered);
	mail.lost.splice(0, mail.lost.length, ...[...new Set(mail.lost)].filter((letter) => !seen.has(letter)));
};
