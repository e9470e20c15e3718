import {button, goTo, isScript, money, page, readPosted} from '../gateway/page.ts';
import type {Call} from '../shared/faults.ts';
import type {Reply} from '../shared/http-server.ts';
import {hmacOf} from './hmac.ts';
import {findIntention} from './intentions.ts';
import type {Intention, Merchant} from './merchant.ts';
import {notFound, PaymobError} from './paymob-errors.ts';
import {newTransaction, saveCard, TEST_CARD, type Transaction} from './transactions.ts';

/** Where the browser goes after a try: flat fields for display, signed like the callback. */
const returnUrl = ({keys}: Merchant, {redirectionUrl}: Intention, transaction: Transaction): string | null => {
	if (redirectionUrl === null) {
		return null;
	}

	const url = new URL(redirectionUrl);
	const {order, source_data: source, data, payment_key_claims: _claims, ...flat} = transaction;
	const fields = {
		...flat,
		order: order.id,
		merchant_order_id: order.merchant_order_id ?? '',
		'source_data.pan': source.pan,
		'source_data.type': source.type,
		'source_data.sub_type': source.sub_type,
		'data.message': data.message,
		hmac: hmacOf(transaction, keys.hmacSecret),
	};
	for (const [name, value] of Object.entries(fields)) {
		url.searchParams.set(name, String(value ?? ''));
	}

	return url.href;
};

const show = (merchant: Merchant, {amount, currency, paid, expiresAt}: Intention, note = ''): Reply => {
	const price = `<p>${money(amount, currency)}</p>`;
	if (paid > 0 || merchant.now() >= expiresAt) {
		return page('Checkout', `${price}<p>It is ${paid > 0 ? 'paid' : 'expired'}.</p>`);
	}

	const box = '<label><input type="checkbox" name="save_card" value="true"> Save card</label> ';
	return page('Checkout', `${note}${price}${button('pay', 'Pay', {}, box)}${button('decline', 'Decline')}`);
};

const post = (merchant: Merchant, intention: Intention, call: Call): Reply => {
	const posted = readPosted(call);
	const outcome = posted.get('action') === 'pay' ? 'works' : 'declines';
	const {card: integration} = merchant.integrations;
	const transaction = newTransaction(merchant, intention, {integration, card: TEST_CARD, outcome});
	if (outcome === 'works' && posted.get('save_card') === 'true') {
		saveCard(merchant, intention, TEST_CARD);
	}

	const url = returnUrl(merchant, intention, transaction);
	if (isScript(call)) {
		return {status: 200, json: {success: transaction.success, transactionId: transaction.id, url}};
	}

	const note = outcome === 'works' ? '' : '<p><strong>The card was declined.</strong></p>';
	return outcome === 'works' && url !== null ? goTo(url) : show(merchant, intention, note);
};

/** The hosted checkout, `?publicKey=…&clientSecret=…`. */
export const answerPage = (merchant: Merchant, call: Call): Reply => {
	try {
		const intention = findIntention(merchant, call.query.get('clientSecret'));
		const isOurs = call.query.get('publicKey') === merchant.keys.publicKey;
		if (!call.path.startsWith('/unifiedcheckout') || !isOurs) {
			throw notFound();
		}

		return call.method === 'POST' ? post(merchant, intention, call) : show(merchant, intention);
	} catch (error) {
		return page('Not possible', '', error instanceof PaymobError ? error.status : 500);
	}
};
