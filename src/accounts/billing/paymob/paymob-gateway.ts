import {gatewayFailed} from '../../../platform/errors.ts';
import {type BillingAttempt, createAttemptStore} from '../attempt-store.ts';
import type {Checkout, Gateway, Payer} from '../gateway.ts';
import {chargeableCard, chargeCard, createOrder} from './charge-card.ts';
import {inquireAttempts, settleCharges} from './inquire-attempt.ts';
import type {Paymob} from './paymob.ts';
import {receivePaymobCallback, recordPaymobEvent} from './receive-callback.ts';
import {refundPayments} from './refund-payments.ts';
import {renewSubscriptions} from './renew-subscriptions.ts';

const checkoutUrl = ({config}: Paymob, clientSecret: string): string => {
	const url = new URL(config.checkoutUrl);
	url.searchParams.set('publicKey', config.publicKey);
	url.searchParams.set('clientSecret', clientSecret);
	return url.href;
};

/** Paymob's page for an attempt. It expires after an hour, which ends superseded ones. */
const openCheckout = async (paymob: Paymob, attempt: BillingAttempt, payer: Payer): Promise<Checkout> => {
	const integrationId = paymob.config.cardIntegrationId;
	const order = await createOrder(paymob, attempt, {payer, integrationId, reference: attempt.id});
	return {
		url: checkoutUrl(paymob, order.clientSecret),
		sessionId: order.id,
		ref: order.orderId,
		intention: order.id,
		customerId: null,
	};
};

/** Paymob has no subscriptions that Oplink uses: only the row changes (contract/billing 26). */
const nothing = async (): Promise<void> => {};

/** Paymob, GATEWAY_B (contract/billing 19, contract/billing 7). */
export const createPaymobGateway = (paymob: Paymob): Gateway => ({
	name: 'GATEWAY_B',
	openCheckout: (attempt, payer) => openCheckout(paymob, attempt, payer),
	upgrade: async (_, attempt, payer) => {
		const card = await chargeableCard(paymob, attempt.organizationId);
		if (card === null) {
			return {paid: false, ...(await openCheckout(paymob, attempt, payer))};
		}

		const outcome = await chargeCard(paymob, attempt, payer, card);
		if (outcome === 'UNANSWERED') {
			throw gatewayFailed(new Error('Paymob: the outcome of a saved-card charge is unknown'));
		}

		if (outcome === 'DECLINED') {
			return {paid: null, reason: 'The saved card was declined'};
		}

		const {gatewayRef, gatewayRef2} =
			(await createAttemptStore(paymob.db).find(attempt.organizationId, attempt.id)) ?? attempt;
		return {paid: true, ref: gatewayRef ?? '', intention: gatewayRef2};
	},
	priceOf: () => null,
	receive: (services, request) => receivePaymobCallback(paymob, services, request),
	replay: (_, event, entry) => recordPaymobEvent(paymob, event, entry),
	renewals: {
		settleCharges: (organizationId) => settleCharges(paymob, organizationId),
		inquire: (run) => inquireAttempts(paymob, run),
		renew: (run) => renewSubscriptions(paymob, run),
		refund: ({isStopping}) => refundPayments(paymob, isStopping),
	},
	// Paymob has no such call; the order expires.
	closeCheckout: nothing,
	scheduleDowngrade: nothing,
	keepPlan: nothing,
	setCancelAtPeriodEnd: nothing,
	cancelNow: nothing,
});
