import type {PaymobEvent, Transaction} from '../fakes/paymob/paymob.ts';
import {checkout, deliverOf, newOwner, type PaymobStage} from './_paymob-stage.ts';

/** A genuine-looking callback about a transaction that was changed: signed anew. */
export const forged = ({paymob}: PaymobStage, transaction: Transaction, changes: Partial<Transaction>): PaymobEvent =>
	paymob.event('TRANSACTION', {...structuredClone(transaction), ...changes});

/** The same HMAC as a genuine callback, over a body with fields changed that are not signed. */
export const tampered = (event: PaymobEvent, changes: object): PaymobEvent => {
	const body = JSON.parse(event.body) as {obj: object};
	return {...event, body: JSON.stringify({...body, obj: {...body.obj, ...changes}})};
};

/** Two checkouts of one owner: the first was superseded by the second. */
export const twoCheckouts = async (stage: PaymobStage) => {
	const owner = await newOwner(stage);
	const {body: older} = await checkout(owner, 'SOLO');
	const {body: newer} = await checkout(owner, 'GROWTH');
	return {owner, older, newer};
};

export const pay = async (stage: PaymobStage, sessionId: string): Promise<Transaction> => {
	const payment = stage.paymob.pay(sessionId);
	await deliverOf(stage, sessionId);
	// What is given back is told, too.
	await deliverOf(stage, sessionId);
	return payment;
};
