import test from 'ava';
import {admin} from '../helpers/callers.ts';
import {startedFor} from '../helpers/started.ts';
import {GROWTH, startPaymobStage} from './_paymob-stage.ts';

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
