import type {Reply} from '../gateway/http-server.ts';
import {button, escapeHtml, goTo, isScript, money, page, readPosted} from '../gateway/page.ts';
import type {Call} from '../identity-provider/faults.ts';
import {matchPath} from '../identity-provider/match-path.ts';
import {type Account, type CardBehavior, known} from './account.ts';
import {completeSession, readSession} from './checkout.ts';
import {readInvoice, tryInvoice} from './invoices.ts';
import {changeSubscription, itemOf} from './new-subscription.ts';
import {noSuch} from './stripe-errors.ts';
import {isLive} from './subscription-status.ts';
import {updateSubscription} from './subscriptions.ts';

const DECLINED = '<p><strong>Your card was declined.</strong></p>';

/** The link back, where the merchant gave one. */
const back = (url: string | null): string => (url === null ? '' : `<p><a href="${escapeHtml(url)}">Back</a></p>`);

const checkoutPage = (account: Account, id: string, note = ''): Reply => {
	const session = readSession(account, id);
	const price = `<p>${money(session.amount_total ?? 0, session.currency ?? '')} a month</p>`;
	const buttons =
		session.status === 'open'
			? button('pay', 'Pay') + button('decline', 'Decline') + button('delayed', 'Pay by a slow method')
			: `<p>This checkout is ${session.status}.</p>`;
	return page('Checkout', note + price + buttons + back(session.cancel_url));
};

const postCheckout = (account: Account, call: Call, id: string): Reply => {
	const action = readPosted(call).get('action');
	if (action === 'pay' || action === 'delayed') {
		completeSession(account, id, action === 'delayed');
	}

	const session = readSession(account, id);
	const url = (session.success_url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', id);
	if (isScript(call)) {
		return {status: 200, json: {status: session.status, url: session.status === 'complete' ? url : null}};
	}

	return session.status === 'complete' && url !== '' ? goTo(url) : checkoutPage(account, id, DECLINED);
};

const invoicePage = (account: Account, id: string, note = ''): Reply => {
	const {status, amount_due: due, currency, number} = readInvoice(account, id);
	const buttons = status === 'open' ? button('pay', 'Pay') + button('decline', 'Decline') : `<p>It is ${status}.</p>`;
	return page(`Invoice ${number ?? id}`, `${note}<p>${money(due, currency)}</p>${buttons}`);
};

const postInvoice = (account: Account, call: Call, id: string): Reply => {
	const isPaid = tryInvoice(account, id, readPosted(call).get('action') === 'pay' ? 'works' : 'declines');
	return isScript(call)
		? {status: 200, json: {status: readInvoice(account, id).status}}
		: invoicePage(account, id, isPaid ? '' : DECLINED);
};

const portalPage = (account: Account, id: string): Reply => {
	const {customer, return_url} = known(account.portals, id);
	const card = account.cards.get(customer) ?? 'works';
	const subscriptions = [...account.subscriptions.values()].filter((one) => one.customer === customer && isLive(one));
	const rows = subscriptions.map((one) => {
		const {price, current_period_end: end} = itemOf(one);
		const ends = one.cancel_at === null ? 'renews' : 'ends';
		const fields = {subscription: one.id};
		const action = one.cancel_at === null ? button('cancel', 'Cancel', fields) : button('resume', 'Resume', fields);
		return `<p>${escapeHtml(price.id)}, ${one.status}, ${ends} ${new Date(end * 1000).toISOString()}</p>${action}`;
	});
	const invoices = [...account.invoices.values()].filter((one) => one.customer === customer).reverse();
	const history = invoices.map(
		({id: invoice, number, status, total, currency}) =>
			`<tr><td><a href="/i/${invoice}">${number ?? invoice}</a><td>${money(total, currency)}<td>${status}`,
	);
	const cards = `<h2>Card</h2><p>The card ${card}.</p>${button('card', 'Card that works', {card: 'works'})}${button(
		'card',
		'Card that is declined',
		{card: 'declines'},
	)}`;
	return page(
		'Billing',
		`${rows.join('')}${cards}<h2>Invoices</h2><table>${history.join('')}</table>${back(return_url)}`,
	);
};

const postPortal = (account: Account, call: Call, id: string): Reply => {
	const posted = readPosted(call);
	const [action, card] = [posted.get('action'), posted.get('card')];
	const {customer} = known(account.portals, id);
	const subscription = account.subscriptions.get(posted.get('subscription') ?? '');
	if (action === 'card') {
		account.cards.set(customer, card === 'declines' ? 'declines' : ('works' satisfies CardBehavior));
	} else if (subscription?.customer === customer) {
		if (action === 'resume') {
			updateSubscription(
				account,
				subscription.id,
				subscription.cancel_at_period_end ? {cancel_at_period_end: 'false'} : {cancel_at: ''},
			);
		} else {
			cancelInPortal(account, subscription.id);
		}
	}

	return isScript(call) ? {status: 200, json: {}} : goTo(call.path);
};

/** Lets a subscription end with its period as the portal does it. */
export const cancelInPortal = (account: Account, id: string): void => {
	const subscription = updateSubscription(account, id, {
		cancel_at: String(itemOf(known(account.subscriptions, id)).current_period_end),
	});
	if (account.settings.portalCancelsBy === 'cancel_at_period_end') {
		changeSubscription(account, subscription, {cancel_at_period_end: true});
	}
};

type Pages = {show(account: Account, id: string): Reply; post(account: Account, call: Call, id: string): Reply};

const pages: Record<string, Pages> = {
	'/c/pay/:id': {show: checkoutPage, post: postCheckout},
	'/i/:id': {show: invoicePage, post: postInvoice},
	'/i/:id/pdf': {show: invoicePage, post: postInvoice},
	'/p/session/:id': {show: portalPage, post: postPortal},
};

/** What is hosted at the gateway: checkout, invoices, the billing portal. @throws for a path that is none of them. */
export const answerPage = (account: Account, call: Call): Reply => {
	for (const [path, {show, post}] of Object.entries(pages)) {
		const id = matchPath(path, call.path)?.['id'];
		if (id !== undefined) {
			return call.method === 'POST' ? post(account, call, id) : show(account, id);
		}
	}

	throw noSuch('page', call.path);
};
