import {randomUUID} from 'node:crypto';
import test from 'ava';
import {runCli} from '../../cli/_run-cli.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

const EVENTS = '/admin/billing/events';
const operator = () => admin(stage.portal);
const eventsOf = async (id: string, query = '') => (await operator().get(`${EVENTS}?orgId=${id}${query}`)).body;

test('the ledger is the operator’s', async (t) => {
	for (const path of [EVENTS, `${EVENTS}/${randomUUID()}`]) {
		t.is((await anonymous(stage.portal).get(path)).status, 401);
	}
});

test.serial('it lists every event with its outcome and a sentence, by organization, gateway and outcome', async (t) => {
	const {organization} = await stage.subscribed();
	const all = await eventsOf(organization.id);
	t.like(all, {total: 3, page: 1, limit: 20});
	t.is(
		Object.keys(all.data[0]).toSorted().join(' '),
		'attemptId deliveries eventKey gateway id organizationId outcome processedAt reason receivedAt reference type',
	);
	const applied = await eventsOf(organization.orgKey, '&outcome=APPLIED&gateway=GATEWAY_A&limit=1');
	t.is(applied.total, 1);
	const reason = 'The subscription is ACTIVE on GROWTH.';
	t.like(applied.data[0], {outcome: 'APPLIED', reason, organizationId: organization.id, deliveries: 1});
	t.is((await eventsOf(organization.id, '&gateway=GATEWAY_B')).total, 0);
	t.deepEqual((await operator().get(`${EVENTS}/${applied.data[0].id}`)).body, applied.data[0]);
});

test.serial('an invalid query is 400, an unknown event 404', async (t) => {
	for (const query of ['outcome=DONE', 'gateway=C', 'orgId=x', 'limit=101', 'page=0']) {
		t.is((await operator().get(`${EVENTS}?${query}`)).status, 400, query);
	}

	t.is((await operator().get(`${EVENTS}?orgId=${randomUUID()}`)).status, 404);
	t.is((await operator().get(`${EVENTS}/x`)).status, 400);
	const missing = {status: 404, body: {message: 'Event not found'}};
	t.like(await operator().get(`${EVENTS}/${randomUUID()}`), missing);
	t.like(await operator().post(`${EVENTS}/${randomUUID()}/replay`), missing);
});

test.serial('a replay applies an event that was in REVIEW once its cause is fixed', async (t) => {
	const owner = await stage.atCheckout();
	const attempts = stage.portal.services.db('billing_attempts').where({organization_id: owner.organization.id});
	// As if the attempt had been for another price.
	await attempts.clone().update({price_id: 'price_old'});
	await stage.pay(owner.checkout.sessionId);
	t.is((await owner.subscription()).status, 'INACTIVE');
	const [event] = (await eventsOf(owner.organization.id, '&outcome=REVIEW')).data;
	t.regex(event.reason, /nothing is activated/);
	await attempts.clone().update({price_id: 'price_oplink_growth'});
	const replay = () => operator().post(`${EVENTS}/${event.id}/replay`);
	t.like(await replay(), {status: 200, body: {id: event.id, outcome: 'APPLIED', deliveries: 1}});
	t.is((await owner.subscription()).status, 'ACTIVE');
	t.like((await replay()).body, {outcome: 'IGNORED'});
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
	const env = {OPLINK_URL: stage.portal.url, OPLINK_ADMIN_TOKEN: stage.portal.adminToken};
	const oplink = (...words: string[]) => runCli(['billing', ...words], {env});
	const listed = await oplink('events', '--org', organization.orgKey, '--json');
	t.is(listed.exitCode, 0, listed.stderr);
	const {data} = JSON.parse(listed.stdout);
	t.deepEqual(data, (await eventsOf(organization.id)).data);
	const [{id}] = data;
	const table = await oplink('events', '--org', organization.id, '--outcome', 'APPLIED');
	t.regex(table.stdout, /^AT \(UTC\) +ID +OUTCOME +TYPE +REASON$/m);
	const shown = await oplink('show', id);
	t.is(shown.exitCode, 0);
	t.regex(shown.stdout, new RegExp(`^id +${id}$`, 'm'));
	t.regex(shown.stdout, /^gateway +GATEWAY_A \(Stripe\)$/m);
	t.like(JSON.parse((await oplink('replay', id, '--json')).stdout), {id, outcome: 'IGNORED'});
	t.is((await oplink('show', randomUUID())).exitCode, 4);
	t.is((await oplink('events', '--outcome', 'DONE')).exitCode, 2);
});

const permutations = <T>(items: T[]): T[][] =>
	items.length < 2
		? [items]
		: items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));

test.serial('checkouts of one organization at once leave one that is open, here and at the gateway', async (t) => {
	const owner = await stage.newOwner();
	const answers = await Promise.all(['SOLO', 'GROWTH', 'SCALE'].map((plan) => owner.openCheckout(plan)));
	t.like(answers, [{status: 200}, {status: 200}, {status: 200}]);
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
	for (const answer of answers) {
		t.like(answer, {status: 200, body: {action: 'UPGRADED', checkoutUrl: null}});
	}

	await stage.deliverAll();
	t.is(stage.chargesOf(owner).length, 2);
	t.like(await owner.state(), {plan: 'GROWTH', status: 'ACTIVE', attempts: 'PAID PAID SUPERSEDED SUPERSEDED'});
	t.is((await owner.changePlan('GROWTH')).status, 409);
});

test.serial('two deliveries of one event at once apply it once', async (t) => {
	const owner = await stage.payer();
	const [event] = stage.takeEvents();
	const thrice = event === undefined ? [] : [event, event, event];
	const deliveries = await stage.stripe.deliverTogether(stage.portal, ...thrice);
	t.deepEqual(new Set(deliveries.map(({status}) => status)), new Set([200]));
	t.like((await stage.ledgerOf(owner))[0], {outcome: 'APPLIED', deliveries: 3});
	t.like(await owner.state(), {attempts: 'PAID', invoices: 1});
});

test.serial('all events of a checkout at once end in one activation', async (t) => {
	const owner = await stage.payer();
	const deliveries = await stage.stripe.deliverTogether(stage.portal);
	stage.takeEvents();
	t.deepEqual(new Set(deliveries.map(({status}) => status)), new Set([200]));
	t.like(await owner.state(), {outcomes: 'APPLIED IGNORED IGNORED', invoices: 1});
});

test.serial('the events of a checkout end in the same rows, in whatever order they come', async (t) => {
	const shapes = new Set<string>();
	for (const order of permutations([0, 1, 2])) {
		const owner = await stage.payer();
		const events = stage.takeEvents();
		t.is(events.length, 3);
		await stage.stripe.deliver(stage.portal, ...order.flatMap((index) => events[index] ?? []));
		t.like(await owner.state(), {outcomes: 'APPLIED IGNORED IGNORED', attempts: 'PAID', invoices: 1});
		const [charge] = stage.chargesOf(owner);
		const known = [owner.checkout.sessionId, charge?.subscription, charge?.invoice, charge?.customer];
		const rows = JSON.stringify(await stage.everythingOf(owner));
		shapes.add(known.reduce((shape: string, id: string) => shape.replaceAll(id, 'id'), rows));
	}

	t.is(shapes.size, 1, [...shapes].join('\n'));
});
