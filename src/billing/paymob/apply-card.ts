import type {Db} from '../../db/db.ts';
import {createAttemptStore} from '../attempt-store.ts';
import type {Verdict} from '../gateway-event-store.ts';
import {createPaymentMethodStore} from '../payment-method-store.ts';
import type {Paymob} from './paymob.ts';
import type {PaymobCard} from './paymob-payloads.ts';

/** Saves a card for the organization whose order it came with (contract/paymob 6); its address proves nothing. */
export const applyCard = async ({cards, clock, log}: Paymob, trx: Db, card: PaymobCard): Promise<Verdict> => {
	const attempt = await createAttemptStore(trx).findByRef('GATEWAY_B', card.orderId);
	if (attempt === null) {
		log.warn({orderId: card.orderId}, 'a saved card of gateway B has no attempt');
		return {outcome: 'UNMATCHED', reason: `No attempt has the order ${card.orderId}.`};
	}

	const {organizationId, id: attemptId} = attempt;
	const {brand, last4, token} = card;
	const saved = {brand, last4, token, sealed: cards.seal(token)};
	await createPaymentMethodStore(trx).save(organizationId, saved, clock.now());
	return {outcome: 'APPLIED', reason: 'The card is saved.', organizationId, attemptId};
};
