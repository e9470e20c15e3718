import test from 'ava';
import {startedFor} from '../helpers/started.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

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
