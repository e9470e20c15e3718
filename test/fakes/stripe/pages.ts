import {button, escapeHtml, goTo, isScript, money, page, readPosted} from '../gateway/page.ts';
import type {Call} from '../shared/faults.ts';
import type {Reply} from '../shared/http-server.ts';
import {findRoute} from '../shared/routes.ts';
import {type Account, found, known} from './account.ts';
import {completeSession, readSession} from './checkout.ts';
import {tryInvoice} from './invoices.ts';
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
	const {status, amount_due: due, currency, number} = found(account.invoices, 'invoice', id);
	const buttons = status === 'open' ? button('pay', 'Pay') + button('decline', 'Decline') : `<p>It is ${status}.</p>`;
	return page(`Invoice ${number ?? id}`, `${note}<p>${money(due, currency)}</p>${buttons}`);
};

const postInvoice = (account: Account, call: Call, id: string): Reply => {
	const isPaid = tryInvoice(account, id, readPosted(call).get('action') === 'pay' ? 'works' : 'declines');
	return isScript(call)
		? {status: 200, json: {status: found(account.invoices, 'invoice', id).status}}
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
		account.cards.set(customer, card === 'declines' ? 'declines' : 'works');
	} else if (subscription?.customer === customer) {
		if (action === 'resume') {
			const resumed = subscription.cancel_at_period_end ? {cancel_at_period_end: 'false'} : {cancel_at: ''};
			updateSubscription(account, resumed, subscription.id);
		} else {
			cancelInPortal(account, subscription.id);
		}
	}

	return isScript(call) ? {status: 200, json: {}} : goTo(call.path);
};

/** Lets a subscription end with its period as the portal does it. */
export const cancelInPortal = (account: Account, id: string): void => {
	const end = itemOf(known(account.subscriptions, id)).current_period_end;
	const subscription = updateSubscription(account, {cancel_at: String(end)}, id);
	if (account.settings.portalCancelsBy === 'cancel_at_period_end') {
		changeSubscription(account, subscription, {cancel_at_period_end: true});
	}
};

type Page = (account: Account, call: Call, id: string) => Reply;
const showInvoice: Page = (account, _, id) => invoicePage(account, id);

const pages: Record<string, Page> = {
	'GET /c/pay/:id': (account, _, id) => checkoutPage(account, id),
	'POST /c/pay/:id': postCheckout,
	'GET /i/:id': showInvoice,
	'POST /i/:id': postInvoice,
	'GET /i/:id/pdf': showInvoice,
	'POST /i/:id/pdf': postInvoice,
	'GET /p/session/:id': (account, _, id) => portalPage(account, id),
	'POST /p/session/:id': postPortal,
};

/** What is hosted at the gateway: checkout, invoices, the billing portal. @throws for a path that is none of them. */
export const answerPage = (account: Account, call: Call): Reply => {
	const route = findRoute(pages, call);
	if (route === null) {
		throw noSuch('page', call.path);
	}

	return route.handle(account, call, route.params['id'] ?? '');
};
