import {randomUUID} from 'node:crypto';
import test from 'ava';
import {runCli} from '../../cli/_run-cli.ts';
import {finish, start} from '../../cli/_spawn-cli.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

const EVENTS = '/admin/billing/events';
const operator = () => admin(stage.portal);
const eventsOf = async (id: string, query = '') => (await operator().get(`${EVENTS}?orgId=${id}${query}`)).body;
const environment = () => ({OPLINK_URL: stage.portal.url, OPLINK_ADMIN_TOKEN: stage.portal.adminToken});

test('the ledger is the operator’s', async (t) => {
	for (const path of [EVENTS, `${EVENTS}/${randomUUID()}`]) {
		t.is((await anonymous(stage.portal).get(path)).status, 401);
	}
});

test.serial('it lists every event with its outcome and a sentence, by organization, gateway and outcome', async (t) => {
	const {organization} = await stage.subscribed();
	const all = await eventsOf(organization.id);
	t.like(all, {total: 3, page: 1, limit: 20});
	t.deepEqual(Object.keys(all.data[0]).toSorted(), [
		'attemptId',
		'deliveries',
		'eventKey',
		'gateway',
		'id',
		'organizationId',
		'outcome',
		'processedAt',
		'reason',
		'receivedAt',
		'reference',
		'type',
	]);
	const applied = await eventsOf(organization.orgKey, '&outcome=APPLIED&gateway=GATEWAY_A&limit=1');
	t.is(applied.total, 1);
	t.like(applied.data[0], {
		outcome: 'APPLIED',
		reason: 'The subscription is ACTIVE on GROWTH.',
		organizationId: organization.id,
		deliveries: 1,
	});
	t.is((await eventsOf(organization.id, '&gateway=GATEWAY_B')).total, 0);
	t.deepEqual((await operator().get(`${EVENTS}/${applied.data[0].id}`)).body, applied.data[0]);
});

test.serial('an invalid query is 400, an unknown event 404', async (t) => {
	for (const query of ['outcome=DONE', 'gateway=C', 'orgId=x', 'limit=101', 'page=0']) {
		t.is((await operator().get(`${EVENTS}?${query}`)).status, 400, query);
	}

	t.is((await operator().get(`${EVENTS}?orgId=${randomUUID()}`)).status, 404);
	t.is((await operator().get(`${EVENTS}/x`)).status, 400);
	for (const answer of [
		await operator().get(`${EVENTS}/${randomUUID()}`),
		await operator().post(`${EVENTS}/${randomUUID()}/replay`),
	]) {
		t.like({status: answer.status, ...answer.body}, {status: 404, message: 'Event not found'});
	}
});

test.serial('a replay applies an event that was in REVIEW once its cause is fixed', async (t) => {
	const owner = await stage.newOwner();
	const {body} = await owner.openCheckout('GROWTH');
	const {db} = stage.portal.services;
	// As if the attempt had been for another price.
	await db('billing_attempts').where({gateway_ref: body.sessionId}).update({price_id: 'price_old'});
	stage.stripe.pay(body.sessionId);
	await stage.deliverAll();
	t.is((await owner.subscription()).status, 'INACTIVE');
	const [event] = (await eventsOf(owner.organization.id, '&outcome=REVIEW')).data;
	t.regex(event.reason, /nothing is activated/);
	await db('billing_attempts').where({gateway_ref: body.sessionId}).update({price_id: 'price_oplink_growth'});
	const replayed = await operator().post(`${EVENTS}/${event.id}/replay`);
	t.is(replayed.status, 200);
	t.like(replayed.body, {id: event.id, outcome: 'APPLIED', deliveries: 1});
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.like((await operator().post(`${EVENTS}/${event.id}/replay`)).body, {outcome: 'IGNORED'});
});

test.serial('a replay that the gateway does not answer is 502 and leaves the entry as it was', async (t) => {
	const {organization} = await stage.subscribed();
	const [event] = (await eventsOf(organization.id)).data;
	stage.stripe.fail({method: 'GET', path: '/subscriptions/:id', status: 500});
	t.is((await operator().post(`${EVENTS}/${event.id}/replay`)).status, 502);
	t.deepEqual((await operator().get(`${EVENTS}/${event.id}`)).body, event);
});

test.serial('oplink billing lists, shows and replays events', async (t) => {
	const {organization} = await stage.subscribed();
	const env = environment();
	const listed = await finish(start(t, ['billing', 'events', '--org', organization.orgKey, '--json'], env));
	t.is(listed.exitCode, 0, listed.stderr);
	const {data} = JSON.parse(listed.stdout);
	t.deepEqual(data, (await eventsOf(organization.id)).data);
	const [{id}] = data;
	const table = await runCli(['billing', 'events', '--org', organization.id, '--outcome', 'APPLIED'], {env});
	t.regex(table.stdout, /^AT \(UTC\) +ID +OUTCOME +TYPE +REASON$/m);
	t.regex(table.stdout, /APPLIED/);
	const shown = await runCli(['billing', 'show', id], {env});
	t.is(shown.exitCode, 0);
	t.regex(shown.stdout, new RegExp(`^id +${id}$`, 'm'));
	t.regex(shown.stdout, /^gateway +GATEWAY_A \(Stripe\)$/m);
	const replayed = await runCli(['billing', 'replay', id, '--json'], {env});
	t.like(JSON.parse(replayed.stdout), {id, outcome: 'IGNORED'});
	t.is((await runCli(['billing', 'show', randomUUID()], {env})).exitCode, 4);
	t.is((await runCli(['billing', 'events', '--outcome', 'DONE'], {env})).exitCode, 2);
});

const permutations = <T>(items: T[]): T[][] =>
	items.length < 2
		? [items]
		: items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));

test.serial('checkouts of one organization at once leave one that is open, here and at the gateway', async (t) => {
	const owner = await stage.newOwner();
	const answers = await Promise.all(['SOLO', 'GROWTH', 'SCALE'].map((plan) => owner.openCheckout(plan)));
	t.deepEqual(
		answers.map(({status}) => status),
		[200, 200, 200],
	);
	await stage.portal.services.background.settle();
	t.deepEqual(await stage.attemptStatuses(owner), ['OPEN', 'SUPERSEDED', 'SUPERSEDED']);
	const sessions = [...stage.stripe.account.sessions.values()].filter(
		({metadata}) => metadata?.['orgId'] === owner.organization.id,
	);
	t.deepEqual(sessions.map(({status}) => status).toSorted(), ['expired', 'expired', 'open']);
	t.is(new Set(sessions.map(({customer}) => customer)).size, 1);
});

test.serial('upgrades of one organization at once take the difference once', async (t) => {
	const owner = await stage.subscribed('SOLO');
	const answers = await Promise.all([1, 2, 3].map(() => owner.changePlan('GROWTH')));
	t.deepEqual(
		answers.map(({status, body}) => [status, body.action, body.checkoutUrl]),
		[1, 2, 3].map(() => [200, 'UPGRADED', null]),
	);
	await stage.deliverAll();
	t.like(await owner.subscription(), {plan: 'GROWTH', status: 'ACTIVE'});
	const charges = stage.chargesOf(owner);
	t.is(charges.length, 2);
	t.deepEqual(await stage.attemptStatuses(owner), ['PAID', 'PAID', 'SUPERSEDED', 'SUPERSEDED']);
	t.is((await owner.changePlan('GROWTH')).status, 409);
});

test.serial('two deliveries of one event at once apply it once', async (t) => {
	const owner = await stage.newOwner();
	stage.stripe.pay((await owner.openCheckout()).body.sessionId);
	const events = stage.takeEvents();
	const [event] = events;
	t.truthy(event);
	const twice = event === undefined ? [] : [event, event, event];
	const deliveries = await stage.stripe.deliverTogether(stage.portal, ...twice);
	t.deepEqual(new Set(deliveries.map(({status}) => status)), new Set([200]));
	t.like((await stage.ledgerOf(owner))[0], {outcome: 'APPLIED', deliveries: 3});
	t.deepEqual(await stage.attemptStatuses(owner), ['PAID']);
	t.is((await stage.everythingOf(owner)).invoices.length, 1);
});

test.serial('all events of a checkout at once end in one activation', async (t) => {
	const owner = await stage.newOwner();
	stage.stripe.pay((await owner.openCheckout()).body.sessionId);
	const deliveries = await stage.stripe.deliverTogether(stage.portal);
	stage.stripe.events.length = 0;
	t.deepEqual(new Set(deliveries.map(({status}) => status)), new Set([200]));
	t.deepEqual((await stage.ledgerOf(owner)).map(({outcome}) => outcome).toSorted(), ['APPLIED', 'IGNORED', 'IGNORED']);
	t.is((await stage.everythingOf(owner)).invoices.length, 1);
});

test.serial('the events of a checkout end in the same rows, in whatever order they come', async (t) => {
	const shapes = new Set<string>();
	for (const order of permutations([0, 1, 2])) {
		const owner = await stage.newOwner();
		const {body} = await owner.openCheckout();
		stage.stripe.pay(body.sessionId);
		const events = stage.takeEvents();
		t.is(events.length, 3);
		for (const index of order) {
			const event = events[index];
			await stage.stripe.deliver(stage.portal, ...(event ? [event] : []));
		}

		const {subscription, organization, attempts, invoices} = await stage.everythingOf(owner);
		const known = [
			body.sessionId,
			...stage.stripe.charges.slice(-1).flatMap((one) => [one.subscription, one.invoice, one.customer]),
		];
		const text = JSON.stringify({subscription, organization, attempts, invoices});
		shapes.add(known.reduce((shape: string, id: string) => shape.replaceAll(id, 'id'), text));
	}

	t.is(shapes.size, 1, [...shapes].join('\n'));
});
