import test from 'ava';
import {admin} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {freshStage, GROWTH, SOLO, startPaymobStage, stopStages} from './_paymob-stage.ts';
import {DAY, MINUTE} from './_stage.ts';

const stage = startedFor(test, () => startPaymobStage());

test('a checkout answers the page of the gateway and leaves an INACTIVE subscription without a plan', async (t) => {
	const owner = await stage.newOwner();
	const {status, body} = await owner.openCheckout('growth');
	t.is(status, 200);
	const url = new URL(body.checkoutUrl);
	t.is(`${url.origin}${url.pathname}`, `${stage.paymob.url}/unifiedcheckout/`);
	t.deepEqual([...url.searchParams.keys()], ['publicKey', 'clientSecret']);
	t.is(url.searchParams.get('publicKey'), stage.paymob.env['PAYMOB_PUBLIC_KEY'] ?? '');
	const {checkoutUrl, sessionId, subscription, ...rest} = body;
	t.deepEqual(rest, {action: 'CHECKOUT', gateway: 'GATEWAY_B'});
	t.regex(sessionId, /^pi_/);
	t.like(subscription, {plan: 'GROWTH', status: 'INACTIVE', gateway: 'GATEWAY_B', currentPeriodEnd: null});
	t.deepEqual(await owner.subscription(), subscription);
	t.is(await owner.activeSubscription(), null);
	t.is(await owner.plan(), null);
});

test('the intention has the amount in piasters, the payer, the callback URL and an expiry of an hour', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	const call = stage.paymob.calls.findLast(
		({path, body: sent}) => path === '/v1/intention/' && JSON.stringify(sent).includes(owner.organization.id),
	);
	const sent = call?.body as {special_reference: string};
	t.is(call?.headers['authorization'], `Token ${stage.paymob.env['PAYMOB_SECRET_KEY']}`);
	const {special_reference: reference, ...rest} = sent;
	t.deepEqual(rest, {
		amount: GROWTH,
		currency: 'EGP',
		payment_methods: [4_000_001],
		items: [{name: 'GROWTH monthly', amount: GROWTH, description: 'GROWTH monthly', quantity: 1}],
		billing_data: {
			first_name: owner.organization.name.slice(0, 50),
			last_name: 'NA',
			email: 'NA',
			phone_number: 'NA',
		},
		extras: {orgId: owner.organization.id, attemptId: reference},
		expiration: 3600,
		notification_url: `${stage.portal.services.addresses.publicUrl}/webhook/gateway-b`,
		redirection_url: 'https://portal.example.com/billing',
	});
	const intention = [...stage.paymob.merchant.intentions.values()].find(({id}) => id === body.sessionId);
	t.is(intention?.specialReference, reference);
});

test('the callback of the payment activates: plan, a calendar month, an invoice, an audit record of the system', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	stage.paymob.pay(body.sessionId);
	t.is(await owner.activeSubscription(), null);
	t.deepEqual(await stage.deliverOf(body.sessionId), [200]);
	const subscription = await owner.activeSubscription();
	t.like(subscription, {
		id: body.subscription.id,
		plan: 'GROWTH',
		status: 'ACTIVE',
		gateway: 'GATEWAY_B',
		currentPeriodStart: '2026-03-10T12:00:00.000Z',
		currentPeriodEnd: '2026-04-10T12:00:00.000Z',
		cancelAtPeriodEnd: false,
		scheduledPlan: null,
	});
	t.is(await owner.plan(), 'GROWTH');
	const invoices = await owner.invoices();
	t.is(invoices.length, 1);
	t.like(invoices[0], {
		plan: 'GROWTH',
		amount: GROWTH,
		currency: 'EGP',
		paidAt: '2026-03-10T12:00:00.000Z',
		periodStart: '2026-03-10T12:00:00.000Z',
		periodEnd: '2026-04-10T12:00:00.000Z',
		hostedUrl: null,
		pdfUrl: null,
	} as object);
	const audit = await admin(stage.portal).get(`/admin/organizations/${owner.organization.id}/audit-log`);
	const record = (audit.body.data as Array<{action: string}>).find(({action}) => action === 'ACTIVATE');
	t.like(record, {entityType: 'Subscription', actor: {type: 'SYSTEM', name: 'Paymob'}} as object);
	t.like((await stage.ledgerOf(owner))[0], {outcome: 'APPLIED', reason: 'The subscription is ACTIVE on GROWTH.'});
});

test('a card that the customer let be saved is listed by brand and last digits, and its token nowhere', async (t) => {
	const owner = await stage.subscribed();
	const {status, body, text} = await owner.caller.get('/portal/billing/payment-methods');
	t.is(status, 200);
	t.is(body.length, 1);
	const {id, ...card} = body[0];
	t.deepEqual(card, {brand: 'MasterCard', last4: '2346', createdAt: '2026-03-10T12:00:00.000Z'});
	t.notRegex(text, /tok_/);
	const {db} = stage.portal.services;
	const rows = await db('payment_methods').where({organization_id: owner.organization.id}).select('token');
	t.regex(rows[0].token, /^aes256gcm:/);
	const events = await db('gateway_events').where({type: 'TOKEN', organization_id: owner.organization.id});
	t.is(events.length, 1);
	t.notRegex(JSON.stringify(events), /tok_/);
});

test('without the tick no card is saved', async (t) => {
	const owner = await stage.subscribed({saveCard: false});
	t.deepEqual((await owner.caller.get('/portal/billing/payment-methods')).body, []);
});

test('a gateway that refuses or does not answer is 502, and no subscription is made', async (t) => {
	const owner = await stage.newOwner();
	const when = ({body}: {body: unknown}) => JSON.stringify(body).includes(owner.organization.id);
	for (const fault of [{status: 500}, {status: 400}, {drop: true}, {rawBody: '<html>', status: 200}]) {
		stage.paymob.fail({path: '/intention/', when, ...fault});
		const {status, body} = await owner.openCheckout('GROWTH');
		t.like({status, ...body}, {status: 502, message: 'Payment gateway unavailable'});
	}

	t.is(await owner.subscription(), null);
	const {db} = stage.portal.services;
	const attempts = await db('billing_attempts').where({organization_id: owner.organization.id}).pluck('status');
	t.deepEqual(attempts, ['FAILED', 'FAILED', 'FAILED', 'FAILED']);
	t.is((await owner.openCheckout('GROWTH')).status, 200);
});

test.after.always(stopStages);

test.serial('a renewal charges the saved card; its callback begins the next period with an invoice', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.clock.set(new Date('2026-04-10T11:59:00.000Z'));
	await stage.runJobs();
	t.is(stage.heldFor(owner), GROWTH);
	await stage.runMinute(MINUTE);
	t.is(stage.heldFor(owner), 2 * GROWTH);
	t.is((await owner.subscription()).currentPeriodEnd, '2026-04-10T12:00:00.000Z');
	await stage.deliverAll();
	t.like(await owner.subscription(), {
		status: 'ACTIVE',
		plan: 'GROWTH',
		currentPeriodStart: '2026-04-10T12:00:00.000Z',
		currentPeriodEnd: '2026-05-10T12:00:00.000Z',
	});
	t.is(await owner.plan(), 'GROWTH');
	const invoices = await owner.invoices();
	t.is(invoices.length, 2);
	t.like(invoices[0], {amount: GROWTH, periodStart: '2026-04-10T12:00:00.000Z', periodEnd: '2026-05-10T12:00:00.000Z'});
	await stage.runJobs();
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial('periods are calendar months counted from the first day: 31 January, 28 February, 31 March', async (t) => {
	const stage = await freshStage({at: new Date('2026-01-31T09:30:00.000Z')});
	const owner = await stage.subscribed();
	const ends: string[] = [];
	for (let month = 0; month < 3; month += 1) {
		const {currentPeriodEnd} = await owner.subscription();
		ends.push(currentPeriodEnd);
		stage.clock.set(new Date(currentPeriodEnd));
		await stage.runJobs();
	}

	t.deepEqual(ends, ['2026-02-28T09:30:00.000Z', '2026-03-31T09:30:00.000Z', '2026-04-30T09:30:00.000Z']);
	t.is((await owner.invoices()).length, 4);
});

test.serial(
	'a service that was away for two months charges once, and the period that follows ends in the future',
	async (t) => {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		stage.clock.advance(75 * DAY);
		for (let minute = 0; minute < 5; minute += 1) {
			await stage.runJobs();
			stage.clock.advance(MINUTE);
		}

		t.is(stage.heldFor(owner), 2 * GROWTH);
		t.like(await owner.subscription(), {status: 'ACTIVE', currentPeriodEnd: '2026-06-10T12:00:00.000Z'});
	},
);

test.serial('the renewal charges for a scheduled downgrade and switches to it', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	await owner.changePlan('SOLO');
	await stage.runJobs(31 * DAY);
	t.like(await owner.subscription(), {plan: 'SOLO', scheduledPlan: null, status: 'ACTIVE'});
	t.is(stage.heldFor(owner), GROWTH + SOLO);
	t.is(await owner.plan(), 'SOLO');
});

test.serial(
	'cancelAtPeriodEnd ends the subscription with its period, charges nothing and leaves STARTER',
	async (t) => {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		t.is((await owner.caller.post('/portal/billing/cancel')).status, 200);
		await stage.runJobs(31 * DAY - MINUTE);
		t.is(await owner.plan(), 'GROWTH');
		await stage.runJobs(MINUTE);
		t.like(await owner.subscription(), {status: 'CANCELED', cancelAtPeriodEnd: false, scheduledPlan: null});
		t.is(await owner.plan(), 'STARTER');
		t.is(stage.heldFor(owner), GROWTH);
		t.is((await owner.caller.post('/portal/billing/resume')).status, 409);
	},
);

test.serial('a resumed subscription is renewed; a change to STARTER ends it', async (t) => {
	const stage = await freshStage();
	const [resumed, leaving] = [await stage.subscribed(), await stage.subscribed()];
	await resumed.caller.post('/portal/billing/cancel');
	await resumed.caller.post('/portal/billing/resume');
	t.is((await leaving.changePlan('STARTER')).body.action, 'SCHEDULED_DOWNGRADE');
	await stage.runJobs(31 * DAY);
	t.is((await resumed.subscription()).status, 'ACTIVE');
	t.is(stage.heldFor(resumed), 2 * GROWTH);
	t.is((await leaving.subscription()).status, 'CANCELED');
	t.is(stage.heldFor(leaving), GROWTH);
});

test.serial('a plan that ops set is not renewed; canceled, it ends on a monthly anniversary', async (t) => {
	const stage = await freshStage();
	const owner = await stage.newOwner();
	await admin(stage.portal).put(`/admin/organizations/${owner.organization.id}/plan`, {plan: 'SCALE'});
	await stage.runJobs(100 * DAY);
	t.like(await owner.subscription(), {status: 'ACTIVE', gateway: 'MANUAL'});
	await owner.caller.post('/portal/billing/cancel');
	const {currentPeriodEnd} = await owner.subscription();
	t.is(currentPeriodEnd, '2026-07-10T12:00:00.000Z');
	stage.clock.set(new Date(currentPeriodEnd));
	await stage.runJobs();
	t.is((await owner.subscription()).status, 'CANCELED');
	t.is(await owner.plan(), 'STARTER');
});

test.serial(
	'an organization suspended or deleted is charged no renewal: its subscription ends with the period',
	async (t) => {
		const stage = await freshStage();
		const owner = await stage.subscribed();
		await admin(stage.portal).post(`/admin/organizations/${owner.organization.id}/suspend`);
		await stage.runJobs();
		const {db} = stage.portal.services;
		const row = () => db('subscriptions').where({organization_id: owner.organization.id}).first();
		t.like(await row(), {status: 'ACTIVE', cancel_at_period_end: true});
		await stage.runJobs(31 * DAY);
		t.like(await row(), {status: 'CANCELED'});
		t.is(stage.heldFor(owner), GROWTH);
	},
);

test.serial('one that was suspended in the minute of its renewal is not charged either', async (t) => {
	const stage = await freshStage();
	const owner = await stage.subscribed();
	stage.clock.advance(31 * DAY);
	await admin(stage.portal).post(`/admin/organizations/${owner.organization.id}/suspend`);
	await stage.runJobs();
	t.is(stage.heldFor(owner), GROWTH);
});

test.serial('the renewal can be paid by a checkout, where no card can be charged', async (t) => {
	const stage = await freshStage({hasMoto: false});
	const owner = await stage.subscribed();
	t.is((await owner.caller.post('/portal/billing/renew')).status, 409);
	await stage.runJobs(31 * DAY);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	const {status, body} = await owner.caller.post('/portal/billing/renew');
	t.is(status, 200);
	t.like(body, {action: 'CHECKOUT', gateway: 'GATEWAY_B'});
	await stage.pay(body.sessionId);
	t.like(await owner.subscription(), {status: 'ACTIVE', currentPeriodEnd: '2026-05-10T12:00:00.000Z'});
	t.is(stage.heldFor(owner), 2 * GROWTH);
	t.is((await owner.caller.post('/portal/billing/renew')).status, 409);
});
