import {randomUUID} from 'node:crypto';
import test from 'ava';
import {admin, anonymous} from '../../helpers/callers.ts';
import {member} from '../../helpers/portal.ts';
import {type StripeStage, startStripeStage} from './_stripe-stage.ts';

let stage: StripeStage;
let off: StripeStage;
test.serial.before(async () => {
	[stage, off] = await Promise.all([startStripeStage(), startStripeStage({STRIPE_SECRET_KEY: ''})]);
});
test.after.always(async () => {
	await stage?.stop();
	await off?.stop();
});

const PRICING = '/portal/billing/pricing';

test('pricing is public: a bare array of plans in the order of the file, ENTERPRISE with the amount 0', async (t) => {
	const {status, body} = await anonymous(stage.portal).get(`${PRICING}?currency=USD`);
	t.is(status, 200);
	t.deepEqual(
		body.map(({plan, amount}: {plan: string; amount: number}) => [plan, amount]),
		[
			['STARTER', 0],
			['SOLO', 1900],
			['GROWTH', 7900],
			['SCALE', 29_900],
			['ENTERPRISE', 0],
		],
	);
	t.deepEqual(body[2], {
		plan: 'GROWTH',
		currency: 'USD',
		amount: 7900,
		interval: 'month',
		features: {api_access: true, custom_domains: true},
		quotas: {links: 10_000, clicks: 250_000, members: 10, domains: 1},
	});
});

test('pricing is in EGP where that is asked for, with the gateways off as well, and USD where nothing is', async (t) => {
	const egp = await anonymous(off.portal).get(`${PRICING}?currency=EGP`);
	t.like(egp.body[1], {plan: 'SOLO', currency: 'EGP', amount: 90_000});
	t.like((await anonymous(off.portal).get(PRICING)).body[1], {currency: 'USD'});
});

for (const currency of ['EUR', 'usd', '']) {
	test(`pricing in '${currency}' is 400`, async (t) => {
		const {status, body} = await anonymous(stage.portal).get(`${PRICING}?currency=${currency}`);
		t.like({status, ...body}, {status: 400, message: 'Validation failed', details: [{field: 'currency'}]});
	});
}

for (const [plan, message] of [
	['STARTER', 'The plan STARTER cannot be bought by checkout'],
	['starter', 'The plan STARTER cannot be bought by checkout'],
	['ENTERPRISE', 'The plan ENTERPRISE cannot be bought by checkout'],
	['PLATINUM', "Unknown plan 'PLATINUM'"],
	['__proto__', "Unknown plan '__proto__'"],
] as const) {
	test(`a checkout of ${plan} is 400 and leaves nothing`, async (t) => {
		const owner = await stage.newOwner();
		const {status, body} = await owner.openCheckout(plan);
		t.like({status, ...body}, {status: 400, message});
		t.is(await owner.subscription(), null);
		t.deepEqual(await stage.attemptStatuses(owner), []);
	});
}

for (const [what, sent, field] of [
	['no plan', {currency: 'USD'}, 'plan'],
	['no currency', {plan: 'SOLO'}, 'currency'],
	['another currency', {plan: 'SOLO', currency: 'EUR'}, 'currency'],
	['an unknown field', {plan: 'SOLO', currency: 'USD', coupon: 'x'}, 'coupon'],
] as const) {
	test(`a checkout with ${what} is 400`, async (t) => {
		const owner = await stage.newOwner();
		const {status, body} = await owner.caller.post('/portal/billing/checkout-session', sent);
		t.like({status, ...body}, {status: 400, message: 'Validation failed', details: [{field}]});
	});
}

test('a checkout in a currency whose gateway is off is 503', async (t) => {
	for (const [place, currency] of [
		[stage, 'EGP'],
		[off, 'USD'],
	] as const) {
		const {status, body} = await (await place.newOwner()).openCheckout('SOLO', currency);
		t.like({status, ...body}, {status: 503, message: 'Payment gateway not configured'});
	}
});

test('a checkout answers where to pay, and by which gateway', async (t) => {
	const owner = await stage.newOwner();
	const {status, body} = await owner.openCheckout('solo');
	t.is(status, 200);
	t.deepEqual(Object.keys(body).toSorted(), ['action', 'checkoutUrl', 'gateway', 'sessionId', 'subscription']);
	const {subscription, ...result} = body;
	t.like(result, {action: 'CHECKOUT', gateway: 'GATEWAY_A'});
	t.is(result.checkoutUrl, `${stage.stripe.url}/c/pay/${result.sessionId}`);
	t.deepEqual(subscription, await owner.subscription());
	t.deepEqual(Object.keys(subscription).toSorted(), [
		'cancelAtPeriodEnd',
		'createdAt',
		'currentPeriodEnd',
		'currentPeriodStart',
		'gateway',
		'id',
		'plan',
		'scheduledPlan',
		'status',
		'updatedAt',
	]);
	const session = stage.stripe.account.sessions.get(result.sessionId);
	t.is(session?.success_url, 'https://portal.example.com/billing?session_id={CHECKOUT_SESSION_ID}');
	t.is(session?.cancel_url, 'https://portal.example.com/billing');
});

test('a checkout with a subscription, one that ops set included, is 409', async (t) => {
	const manual = await stage.newOwner('SCALE');
	for (const owner of [await stage.subscribed(), manual]) {
		const {status, body} = await owner.openCheckout('SOLO');
		t.like(
			{status, ...body},
			{status: 409, message: 'The organization already has a subscription. Change its plan instead.'},
		);
	}
});

const changes: Record<string, object | undefined> = {
	'change-plan': {plan: 'SOLO'},
	cancel: undefined,
	resume: undefined,
};
for (const [route, sent] of Object.entries(changes)) {
	test(`${route} without a subscription, and with one that was never paid, is 409 and names the checkout`, async (t) => {
		const owner = await stage.newOwner();
		const expected = {
			status: 409,
			message: 'The organization has no active subscription',
			billingEndpoint: '/portal/billing/checkout-session',
		};
		for (const prepare of [async () => {}, () => owner.openCheckout()]) {
			await prepare();
			const {status, body} = await owner.caller.post(`/portal/billing/${route}`, sent);
			t.like({status, ...body}, expected);
		}
	});
}

test('change-plan to ENTERPRISE or an unknown plan is 400, with and without a subscription', async (t) => {
	for (const owner of [await stage.subscribed(), await stage.newOwner()]) {
		t.is((await owner.changePlan('ENTERPRISE')).status, 400);
		t.is((await owner.changePlan('PLATINUM')).status, 400);
	}
});

test('change-plan to the current plan, and resume without a cancellation, are 409', async (t) => {
	const owner = await stage.subscribed();
	const same = await owner.changePlan('growth');
	t.like({status: same.status, ...same.body}, {status: 409, message: 'The organization is already on the plan GROWTH'});
	const resumed = await owner.caller.post('/portal/billing/resume');
	t.like({status: resumed.status, ...resumed.body}, {status: 409, message: 'The subscription is not scheduled to end'});
});

test('cancel, resume and portal-session take no fields', async (t) => {
	const {caller} = await stage.subscribed();
	for (const route of ['cancel', 'resume', 'portal-session']) {
		t.is((await caller.post(`/portal/billing/${route}`, {now: true})).status, 400);
	}
});

test('portal-session answers the gateway’s page; without a customer there it is 409', async (t) => {
	const {caller} = await stage.subscribed();
	const {status, body} = await caller.post('/portal/billing/portal-session');
	t.is(status, 200);
	t.deepEqual(Object.keys(body), ['url']);
	t.true(body.url.startsWith(`${stage.stripe.url}/p/session/`));
	for (const owner of [await stage.newOwner(), await stage.newOwner('SCALE')]) {
		const refused = await owner.caller.post('/portal/billing/portal-session');
		t.like(
			{status: refused.status, ...refused.body},
			{status: 409, message: 'The billing portal is not available for this subscription'},
		);
	}
});

test('invoices are listed in pages and shown one by one, to their own organization alone', async (t) => {
	const [owner, other] = [await stage.subscribed(), await stage.subscribed()];
	const {status, body} = await owner.caller.get('/portal/billing/invoices?limit=1');
	t.is(status, 200);
	t.like(body, {total: 1, page: 1, limit: 1});
	t.deepEqual(Object.keys(body.data[0]).toSorted(), [
		'amount',
		'currency',
		'hostedUrl',
		'id',
		'number',
		'paidAt',
		'pdfUrl',
		'periodEnd',
		'periodStart',
		'plan',
	]);
	const path = `/portal/billing/invoices/${body.data[0].id}`;
	t.deepEqual((await owner.caller.get(path)).body, body.data[0]);
	for (const [caller, asked] of [
		[other.caller, path],
		[owner.caller, `/portal/billing/invoices/${randomUUID()}`],
	] as const) {
		const missing = await caller.get(asked);
		t.like({status: missing.status, ...missing.body}, {status: 404, message: 'Invoice not found'});
	}

	t.is((await owner.caller.get('/portal/billing/invoices/1')).status, 400);
	t.is((await owner.caller.get('/portal/billing/invoices?limit=101')).status, 400);
});

test('payment methods are a bare array', async (t) => {
	const {caller} = await stage.subscribed();
	const {status, body} = await caller.get('/portal/billing/payment-methods');
	t.deepEqual({status, body}, {status: 200, body: []});
});

test('only an owner sees or does anything but pricing', async (t) => {
	const {organization} = await stage.subscribed();
	const {caller} = await member(stage.portal, {role: 'admin', organization});
	const paths = ['subscription', 'subscription/active', 'invoices', `invoices/${randomUUID()}`, 'payment-methods'];
	const answers = [
		...(await Promise.all(paths.map((path) => caller.get(`/portal/billing/${path}`)))),
		...(await Promise.all(
			['checkout-session', 'change-plan', 'cancel', 'resume', 'portal-session'].map((path) =>
				caller.post(`/portal/billing/${path}`, {}),
			),
		)),
	];
	for (const {status, body} of answers) {
		t.like({status, ...body}, {status: 403, message: 'Insufficient role'});
	}

	t.is((await anonymous(stage.portal).get('/portal/billing/subscription')).status, 401);
});

for (const status of ['ACTIVE', 'PAST_DUE', 'INACTIVE', 'CANCELED'] as const) {
	const expected = status === 'ACTIVE' || status === 'PAST_DUE' ? 409 : 200;
	test(`deleting an organization whose subscription is ${status} is ${expected}, for its owner and the operator`, async (t) => {
		const owners = [await stage.newOwner(), await stage.newOwner()] as const;
		const {db, clock} = stage.portal.services;
		for (const {organization} of owners) {
			await db('subscriptions').insert({
				id: randomUUID(),
				organization_id: organization.id,
				plan: 'GROWTH',
				status,
				gateway: 'GATEWAY_A',
				created_at: clock.now(),
				updated_at: clock.now(),
			});
		}

		const [first, second] = owners;
		const answers = [
			await first.caller.delete('/portal/organization'),
			await admin(stage.portal).delete(`/admin/organizations/${second.organization.id}`),
		];
		t.deepEqual(
			answers.map((answer) => answer.status),
			[expected, expected],
		);
	});
}
