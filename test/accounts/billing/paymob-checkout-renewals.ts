import test from 'ava';
import {admin} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {
	freshStage,
	freshSubscriber,
	GROWTH,
	type PaymobStage,
	SOLO,
	startPaymobStage,
	stopStages,
} from './_paymob-stage.ts';
import {DAY, MINUTE, type Whose} from './_stage.ts';

const stage = startedFor(test, () => startPaymobStage());

const NOW = '2026-03-10T12:00:00.000Z';
const END = '2026-04-10T12:00:00.000Z';
const NEXT = '2026-05-10T12:00:00.000Z';

test('a checkout answers the page of the gateway and leaves an INACTIVE subscription without a plan', async (t) => {
	const owner = await stage.newOwner();
	const {status, body} = await owner.openCheckout('growth');
	t.is(status, 200);
	const {checkoutUrl, sessionId, subscription, ...rest} = body;
	const url = new URL(checkoutUrl);
	t.is(`${url.origin}${url.pathname}`, `${stage.paymob.url}/unifiedcheckout/`);
	t.deepEqual([...url.searchParams.keys()], ['publicKey', 'clientSecret']);
	t.is(url.searchParams.get('publicKey'), stage.paymob.env['PAYMOB_PUBLIC_KEY'] ?? '');
	t.deepEqual(rest, {action: 'CHECKOUT', gateway: 'GATEWAY_B'});
	t.regex(sessionId, /^pi_/);
	t.like(subscription, {plan: 'GROWTH', status: 'INACTIVE', gateway: 'GATEWAY_B', currentPeriodEnd: null});
	t.deepEqual(await owner.subscription(), subscription);
	t.is(await owner.activeSubscription(), null);
	t.is(await owner.plan(), null);
});

test('the intention has the amount in piasters, the payer, the callback URL and an expiry of an hour', async (t) => {
	const {organization, checkout} = await stage.atCheckout();
	const call = stage.paymob.calls.findLast(
		({path, body}) => path === '/v1/intention/' && JSON.stringify(body).includes(organization.id),
	);
	t.is(call?.headers['authorization'], `Token ${stage.paymob.env['PAYMOB_SECRET_KEY']}`);
	const sent = call?.body as {special_reference: string};
	const {special_reference: reference, ...rest} = sent;
	t.deepEqual(rest, {
		amount: GROWTH,
		currency: 'EGP',
		payment_methods: [4_000_001],
		items: [{name: 'GROWTH monthly', amount: GROWTH, description: 'GROWTH monthly', quantity: 1}],
		billing_data: {first_name: organization.name.slice(0, 50), last_name: 'NA', email: 'NA', phone_number: 'NA'},
		extras: {orgId: organization.id, attemptId: reference},
		expiration: 3600,
		notification_url: `${stage.portal.services.addresses.publicUrl}/webhook/gateway-b`,
		redirection_url: 'https://portal.example.com/billing',
	});
	const intention = [...stage.paymob.merchant.intentions.values()].find(({id}) => id === checkout.sessionId);
	t.is(intention?.specialReference, reference);
});

test('the callback of the payment activates: plan, calendar month, invoice, audit record of the system', async (t) => {
	const owner = await stage.atCheckout();
	stage.paymob.pay(owner.checkout.sessionId);
	t.is(await owner.activeSubscription(), null);
	t.deepEqual(await stage.deliverOf(owner.checkout.sessionId), [200]);
	t.like(await owner.activeSubscription(), {
		id: owner.checkout.subscription.id,
		plan: 'GROWTH',
		status: 'ACTIVE',
		gateway: 'GATEWAY_B',
		currentPeriodStart: NOW,
		currentPeriodEnd: END,
		cancelAtPeriodEnd: false,
		scheduledPlan: null,
	});
	t.is(await owner.plan(), 'GROWTH');
	const invoices: object[] = await owner.invoices();
	t.is(invoices.length, 1);
	t.like(invoices[0], {plan: 'GROWTH', amount: GROWTH, currency: 'EGP', hostedUrl: null, pdfUrl: null});
	t.like(invoices[0], {paidAt: NOW, periodStart: NOW, periodEnd: END});
	const audit = await admin(stage.portal).get(`/admin/organizations/${owner.organization.id}/audit-log`);
	const record = audit.body.data.find(({action}: {action: string}) => action === 'ACTIVATE');
	t.like(record, {entityType: 'Subscription', actor: {type: 'SYSTEM', name: 'Paymob'}});
	t.like((await stage.ledgerOf(owner))[0], {outcome: 'APPLIED', reason: 'The subscription is ACTIVE on GROWTH.'});
});

test('a card that the customer let be saved is listed by brand and last digits, and its token nowhere', async (t) => {
	const owner = await stage.subscribed();
	const {status, body, text} = await owner.caller.get('/portal/billing/payment-methods');
	t.is(status, 200);
	t.is(body.length, 1);
	const {id, ...card} = body[0];
	t.deepEqual(card, {brand: 'MasterCard', last4: '2346', createdAt: NOW});
	t.notRegex(text, /tok_/);
	const {db} = stage.portal.services;
	const [token] = await db('payment_methods').where({organization_id: owner.organization.id}).pluck('token');
	t.regex(token, /^aes256gcm:/);
	const events = await db('gateway_events').where({type: 'TOKEN', organization_id: owner.organization.id});
	t.is(events.length, 1);
	t.notRegex(JSON.stringify(events), /tok_/);
});

test('without the tick no card is saved', async (t) => {
	t.deepEqual(await (await stage.subscribed({saveCard: false})).cards(), []);
});

test('a gateway that refuses or does not answer is 502, and no subscription is made', async (t) => {
	const owner = await stage.newOwner();
	const when = ({body}: {body: unknown}) => JSON.stringify(body).includes(owner.organization.id);
	for (const fault of [{status: 500}, {status: 400}, {drop: true}, {rawBody: '<html>', status: 200}]) {
		stage.paymob.fail({path: '/intention/', when, ...fault});
		t.like(await owner.openCheckout(), {status: 502, body: {message: 'Payment gateway unavailable'}});
	}

	t.like(await owner.state(), {status: null, attempts: 'FAILED FAILED FAILED FAILED'});
	t.is((await owner.openCheckout()).status, 200);
});

test.after.always(stopStages);

test.serial('a renewal charges the saved card; its callback begins the next period with an invoice', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.clock.set(new Date('2026-04-10T11:59:00.000Z'));
	await stage.runJobs();
	t.is(stage.heldFor(owner), GROWTH);
	await stage.runMinute(MINUTE);
	t.like(await owner.state(), {held: 2 * GROWTH, currentPeriodEnd: END});
	await stage.deliverAll();
	const period = {currentPeriodStart: END, currentPeriodEnd: NEXT};
	t.like(await owner.state(), {status: 'ACTIVE', plan: 'GROWTH', uses: 'GROWTH', invoices: 2, ...period});
	t.like((await owner.invoices())[0], {amount: GROWTH, periodStart: END, periodEnd: NEXT});
	await stage.runJobs();
	t.is(stage.heldFor(owner), 2 * GROWTH);
});

test.serial('periods are calendar months counted from the first day: 31 January, 28 February, 31 March', async (t) => {
	const {stage, owner} = await freshSubscriber({at: new Date('2026-01-31T09:30:00.000Z')});
	for (const end of ['2026-02-28T09:30:00.000Z', '2026-03-31T09:30:00.000Z', '2026-04-30T09:30:00.000Z']) {
		t.is((await owner.subscription()).currentPeriodEnd, end);
		stage.clock.set(new Date(end));
		await stage.runJobs();
	}

	t.is((await owner.invoices()).length, 4);
});

test.serial('after two months away the service charges once, for a period that ends in the future', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.clock.advance(75 * DAY);
	await stage.keepRunning(5, MINUTE);
	t.like(await owner.state(), {held: 2 * GROWTH, status: 'ACTIVE', currentPeriodEnd: '2026-06-10T12:00:00.000Z'});
});

test.serial('the renewal charges for a scheduled downgrade and switches to it', async (t) => {
	const {stage, owner} = await freshSubscriber();
	await owner.changePlan('SOLO');
	await stage.runJobs(31 * DAY);
	const expected = {plan: 'SOLO', uses: 'SOLO', scheduledPlan: null, status: 'ACTIVE', held: GROWTH + SOLO};
	t.like(await owner.state(), expected);
});

test.serial('cancelAtPeriodEnd ends the subscription with its period, without a charge, on STARTER', async (t) => {
	const {stage, owner} = await freshSubscriber();
	t.is((await owner.cancel()).status, 200);
	await stage.runJobs(31 * DAY - MINUTE);
	t.is(await owner.plan(), 'GROWTH');
	await stage.runJobs(MINUTE);
	t.like(await owner.state(), {status: 'CANCELED', uses: 'STARTER', held: GROWTH});
	t.like(await owner.subscription(), {cancelAtPeriodEnd: false, scheduledPlan: null});
	t.is((await owner.resume()).status, 409);
});

test.serial('a resumed subscription is renewed; a change to STARTER ends it', async (t) => {
	const stage = await freshStage();
	const [resumed, leaving] = [await stage.subscribed(), await stage.subscribed()];
	await resumed.cancel();
	await resumed.resume();
	t.is((await leaving.changePlan('STARTER')).body.action, 'SCHEDULED_DOWNGRADE');
	await stage.runJobs(31 * DAY);
	t.like(await resumed.state(), {status: 'ACTIVE', held: 2 * GROWTH});
	t.like(await leaving.state(), {status: 'CANCELED', held: GROWTH});
});

test.serial('a plan that ops set is not renewed; canceled, it ends on a monthly anniversary', async (t) => {
	const stage = await freshStage();
	const owner = await stage.newOwner();
	await stage.setPlan(owner, 'SCALE');
	await stage.runJobs(100 * DAY);
	t.like(await owner.subscription(), {status: 'ACTIVE', gateway: 'MANUAL'});
	await owner.cancel();
	const {currentPeriodEnd} = await owner.subscription();
	t.is(currentPeriodEnd, '2026-07-10T12:00:00.000Z');
	stage.clock.set(new Date(currentPeriodEnd));
	await stage.runJobs();
	t.like(await owner.state(), {status: 'CANCELED', uses: 'STARTER'});
});

const suspend = ({portal}: PaymobStage, {organization: {id}}: Whose) =>
	admin(portal).post(`/admin/organizations/${id}/suspend`);

test.serial('the subscription of a suspended organization ends with its period, without a charge', async (t) => {
	const {stage, owner} = await freshSubscriber();
	const row = async () => (await stage.everythingOf(owner)).subscription[0];
	await suspend(stage, owner);
	await stage.runJobs();
	t.like(await row(), {status: 'ACTIVE', cancel_at_period_end: true});
	await stage.runJobs(31 * DAY);
	t.like(await row(), {status: 'CANCELED'});
	t.is(stage.heldFor(owner), GROWTH);
});

test.serial('one that was suspended in the minute of its renewal is not charged either', async (t) => {
	const {stage, owner} = await freshSubscriber();
	stage.clock.advance(31 * DAY);
	await suspend(stage, owner);
	await stage.runJobs();
	t.is(stage.heldFor(owner), GROWTH);
});

test.serial('the renewal can be paid by a checkout, where no card can be charged', async (t) => {
	const {stage, owner} = await freshSubscriber({hasMoto: false});
	t.is((await owner.renew()).status, 409);
	await stage.runJobs(31 * DAY);
	t.is((await owner.subscription()).status, 'PAST_DUE');
	const {status, body} = await owner.renew();
	t.is(status, 200);
	t.like(body, {action: 'CHECKOUT', gateway: 'GATEWAY_B'});
	await stage.pay(body.sessionId);
	t.like(await owner.state(), {status: 'ACTIVE', currentPeriodEnd: NEXT, held: 2 * GROWTH});
	t.is((await owner.renew()).status, 409);
});
