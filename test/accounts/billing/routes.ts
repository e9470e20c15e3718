import {randomUUID} from 'node:crypto';
import test from 'ava';
import {admin, anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

const PRICING = '/portal/billing/pricing';
const fieldsOf = (object: object): string => Object.keys(object).toSorted().join(' ');

test('pricing is public: a bare array of plans in the order of the file, ENTERPRISE with the amount 0', async (t) => {
	const {status, body} = await anonymous(stage.portal).get(`${PRICING}?currency=USD`);
	t.is(status, 200);
	const prices = body.map(({plan, amount}: {plan: string; amount: number}) => `${plan} ${amount}`);
	t.deepEqual(prices, ['STARTER 0', 'SOLO 1900', 'GROWTH 7900', 'SCALE 29900', 'ENTERPRISE 0']);
	t.deepEqual(body[2], {
		plan: 'GROWTH',
		currency: 'USD',
		amount: 7900,
		interval: 'month',
		features: {api_access: true, custom_domains: true},
		quotas: {links: 10_000, clicks: 250_000, members: 10, domains: 1},
	});
});

test('pricing is in EGP where that is asked for, though its gateway is off, and USD where nothing is', async (t) => {
	const egp = await anonymous(stage.portal).get(`${PRICING}?currency=EGP`);
	t.like(egp.body[1], {plan: 'SOLO', currency: 'EGP', amount: 90_000});
	t.like((await anonymous(stage.portal).get(PRICING)).body[1], {currency: 'USD'});
});

test('pricing in a currency that is none of these is 400', async (t) => {
	for (const currency of ['EUR', 'usd', '']) {
		const {status, body} = await anonymous(stage.portal).get(`${PRICING}?currency=${currency}`);
		t.is(status, 400, currency);
		t.like(body, {message: 'Validation failed', details: [{field: 'currency'}]}, currency);
	}
});

test('a checkout of a plan that is not for sale is 400 and leaves nothing', async (t) => {
	const owner = await stage.newOwner();
	t.deepEqual((await owner.caller.get('/portal/billing/subscription')).body, {subscription: null});
	t.deepEqual((await owner.caller.get('/portal/billing/subscription/active')).body, {subscription: null});
	for (const [plan, message] of [
		['STARTER', 'The plan STARTER cannot be bought by checkout'],
		['starter', 'The plan STARTER cannot be bought by checkout'],
		['ENTERPRISE', 'The plan ENTERPRISE cannot be bought by checkout'],
		['PLATINUM', "Unknown plan 'PLATINUM'"],
		['__proto__', "Unknown plan '__proto__'"],
	] as const) {
		t.like(await owner.openCheckout(plan), {status: 400, body: {message}}, plan);
		t.like(await owner.state(), {status: null, attempts: ''}, plan);
	}
});

test('a checkout without a field, or with a wrong one, is 400', async (t) => {
	const {caller} = await stage.newOwner();
	for (const [sent, field] of [
		[{currency: 'USD'}, 'plan'],
		[{plan: 'SOLO'}, 'currency'],
		[{plan: 'SOLO', currency: 'EUR'}, 'currency'],
		[{plan: 'SOLO', currency: 'USD', coupon: 'x'}, 'coupon'],
	] as const) {
		const {status, body} = await caller.post('/portal/billing/checkout-session', sent);
		t.like({status, ...body}, {status: 400, message: 'Validation failed', details: [{field}]}, JSON.stringify(sent));
	}
});

test('a checkout in a currency whose gateway is off is 503', async (t) => {
	const refused = {status: 503, body: {message: 'Payment gateway not configured'}};
	t.like(await (await stage.newOwner()).openCheckout('SOLO', 'EGP'), refused);
});

test('a checkout answers where to pay, and by which gateway', async (t) => {
	const owner = await stage.newOwner();
	const {status, body} = await owner.openCheckout('solo');
	t.is(status, 200);
	t.is(fieldsOf(body), 'action checkoutUrl gateway sessionId subscription');
	const {subscription, sessionId} = body;
	const checkoutUrl = `${stage.stripe.url}/c/pay/${sessionId}`;
	t.like(body, {action: 'CHECKOUT', gateway: 'GATEWAY_A', checkoutUrl});
	t.deepEqual(subscription, await owner.subscription());
	t.is(
		fieldsOf(subscription),
		'cancelAtPeriodEnd createdAt currentPeriodEnd currentPeriodStart gateway id plan scheduledPlan status updatedAt',
	);
	t.like(stage.stripe.account.sessions.get(sessionId), {
		success_url: 'https://portal.example.com/billing?session_id={CHECKOUT_SESSION_ID}',
		cancel_url: 'https://portal.example.com/billing',
	});
});

test('a checkout with a subscription, one that ops set included, is 409', async (t) => {
	const message = 'The organization already has a subscription. Change its plan instead.';
	for (const owner of [await stage.subscribed(), await stage.newOwner('SCALE')]) {
		t.like(await owner.openCheckout('SOLO'), {status: 409, body: {message}});
	}
});

test('changes without a subscription, or with one that was never paid, are 409 and name the checkout', async (t) => {
	const message = 'The organization has no active subscription';
	const body = {message, billingEndpoint: '/portal/billing/checkout-session'};
	for (const owner of [await stage.newOwner(), await stage.atCheckout()]) {
		t.like(await owner.changePlan('SOLO'), {status: 409, body});
		t.like(await owner.cancel(), {status: 409, body});
		t.like(await owner.resume(), {status: 409, body});
	}
});

test('change-plan to ENTERPRISE or an unknown plan is 400, with and without a subscription', async (t) => {
	for (const owner of [await stage.subscribed(), await stage.newOwner()]) {
		t.is((await owner.changePlan('ENTERPRISE')).status, 400);
		t.is((await owner.changePlan('PLATINUM')).status, 400);
	}
});

test('change-plan to the current plan, and resume without a cancellation, are 409', async (t) => {
	const owner = await stage.subscribed();
	const same = {message: 'The organization is already on the plan GROWTH'};
	t.like(await owner.changePlan('growth'), {status: 409, body: same});
	t.like(await owner.resume(), {status: 409, body: {message: 'The subscription is not scheduled to end'}});
});

test('cancel, resume and portal-session take no fields', async (t) => {
	const {caller} = await stage.subscribed();
	for (const route of ['cancel', 'resume', 'portal-session']) {
		t.is((await caller.post(`/portal/billing/${route}`, {now: true})).status, 400, route);
	}
});

test('portal-session answers the gateway’s page; without a customer there it is 409', async (t) => {
	const {caller} = await stage.subscribed();
	const {status, body} = await caller.post('/portal/billing/portal-session');
	t.is(status, 200);
	t.deepEqual(Object.keys(body), ['url']);
	t.true(body.url.startsWith(`${stage.stripe.url}/p/session/`));
	const message = 'The billing portal is not available for this subscription';
	for (const owner of [await stage.newOwner(), await stage.newOwner('SCALE')]) {
		t.like(await owner.caller.post('/portal/billing/portal-session'), {status: 409, body: {message}});
	}
});

test('invoices are listed in pages and shown one by one, to their own organization alone', async (t) => {
	const [owner, other] = [await stage.subscribed(), await stage.subscribed()];
	const {status, body} = await owner.caller.get('/portal/billing/invoices?limit=1');
	t.is(status, 200);
	t.like(body, {total: 1, page: 1, limit: 1});
	const [invoice] = body.data;
	t.is(fieldsOf(invoice), 'amount currency hostedUrl id number paidAt pdfUrl periodEnd periodStart plan');
	const path = `/portal/billing/invoices/${invoice.id}`;
	t.deepEqual((await owner.caller.get(path)).body, invoice);
	const missing = {status: 404, body: {message: 'Invoice not found'}};
	t.like(await other.caller.get(path), missing);
	t.like(await owner.caller.get(`/portal/billing/invoices/${randomUUID()}`), missing);
	t.is((await owner.caller.get('/portal/billing/invoices/1')).status, 400);
	t.is((await owner.caller.get('/portal/billing/invoices?limit=101')).status, 400);
});

test('payment methods are a bare array', async (t) => {
	const {status, body} = await (await stage.subscribed()).caller.get('/portal/billing/payment-methods');
	t.deepEqual({status, body}, {status: 200, body: []});
});

for (const [status, expected] of Object.entries({ACTIVE: 409, PAST_DUE: 409, INACTIVE: 200, CANCELED: 200})) {
	test(`deleting an organization whose subscription is ${status} is ${expected}, for its owner and the operator`, async (t) => {
		const [first, second] = [await stage.newOwner(), await stage.newOwner()];
		const {db, clock} = stage.portal.services;
		const row = {plan: 'GROWTH', status, gateway: 'GATEWAY_A', created_at: clock.now(), updated_at: clock.now()};
		for (const {organization} of [first, second]) {
			await db('subscriptions').insert({id: randomUUID(), organization_id: organization.id, ...row});
		}

		t.is((await first.caller.delete('/portal/organization')).status, expected);
		t.is((await admin(stage.portal).delete(`/admin/organizations/${second.organization.id}`)).status, expected);
	});
}
