import test from 'ava';
import {admin} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import type {Owner} from './_stage.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

/** What goes wrong with each call, from then on. */
const faults: Record<string, object> = {
	'answers 500': {status: 500},
	'does it, and ends the connection': {drop: true, afterwards: true},
};

/** All calls are made by one function, so that one is enough for these. */
const otherFaults: Record<string, object> = {
	'answers 400': {status: 400},
	'answers 401': {status: 401},
	'answers 402': {status: 402},
	'answers 429': {status: 429},
	'answers a page of a proxy': {rawBody: '<html>Bad gateway</html>'},
	'does not answer': {hang: true},
	'ends the connection': {drop: true},
};

type Story = {
	prepare(): Promise<Owner>;
	act(owner: Owner): Promise<{status: number; body: Record<string, unknown>}>;
	/** Calls of the operation that can fail. */
	calls: string[];
	/** The result once a repetition has succeeded and all events have come. */
	ends: object;
	/** How often money was taken in all. */
	charges: number;
};

const cancel = ({caller}: Owner) => caller.post('/portal/billing/cancel');

/** Delivers the newest event alone: it causes a full sync, and the others cost time. */
const deliverNewest = async (): Promise<void> => {
	await stage.stripe.deliver(stage.portal, ...stage.stripe.events.splice(0).slice(-1));
};

const after =
	(plan: string, ...steps: Array<(owner: Owner) => Promise<unknown>>) =>
	async (): Promise<Owner> => {
		const owner = await stage.newOwner();
		stage.stripe.pay((await owner.openCheckout(plan)).body.sessionId);
		await deliverNewest();
		for (const step of steps) {
			await step(owner);
			await deliverNewest();
		}

		return owner;
	};

const stories: Record<string, Story> = {
	'a checkout': {
		prepare: () => stage.newOwner(),
		act: (owner) => owner.openCheckout(),
		calls: ['POST /customers', 'POST /checkout/sessions'],
		ends: {status: 'INACTIVE', plan: 'GROWTH'},
		charges: 0,
	},
	'an upgrade': {
		prepare: after('SOLO'),
		act: (owner) => owner.changePlan('SCALE'),
		calls: ['GET /subscriptions/:id', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', cancelAtPeriodEnd: false},
		charges: 2,
	},
	'an upgrade after a cancellation': {
		prepare: after('SOLO', cancel),
		act: (owner) => owner.changePlan('SCALE'),
		calls: ['GET /subscriptions/:id', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', cancelAtPeriodEnd: false},
		charges: 2,
	},
	'a downgrade': {
		prepare: after('SCALE'),
		act: (owner) => owner.changePlan('SOLO'),
		calls: ['GET /subscriptions/:id', 'POST /subscription_schedules', 'POST /subscription_schedules/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', scheduledPlan: 'SOLO'},
		charges: 1,
	},
	'a downgrade to nothing': {
		prepare: after('SCALE', (owner) => owner.changePlan('SOLO')),
		act: (owner) => owner.changePlan('STARTER'),
		calls: ['GET /subscriptions/:id', 'POST /subscription_schedules/:id/release', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', scheduledPlan: 'STARTER', cancelAtPeriodEnd: true},
		charges: 1,
	},
	'taking a downgrade back': {
		prepare: after('SCALE', (owner) => owner.changePlan('SOLO')),
		act: (owner) => owner.changePlan('SCALE'),
		calls: ['GET /subscriptions/:id', 'POST /subscription_schedules/:id/release'],
		ends: {status: 'ACTIVE', plan: 'SCALE', scheduledPlan: null},
		charges: 1,
	},
	'a cancellation': {
		prepare: after('GROWTH'),
		act: cancel,
		calls: ['GET /subscriptions/:id', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', cancelAtPeriodEnd: true},
		charges: 1,
	},
	'a resume': {
		prepare: after('GROWTH', cancel),
		act: ({caller}) => caller.post('/portal/billing/resume'),
		calls: ['GET /subscriptions/:id', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', cancelAtPeriodEnd: false},
		charges: 1,
	},
	'a portal session': {
		prepare: after('GROWTH'),
		act: ({caller}) => caller.post('/portal/billing/portal-session'),
		calls: ['POST /billing_portal/sessions'],
		ends: {status: 'ACTIVE', plan: 'GROWTH'},
		charges: 1,
	},
	'a plan set by ops': {
		prepare: after('GROWTH'),
		act: ({organization}) => admin(stage.portal).put(`/admin/organizations/${organization.id}/plan`, {plan: 'SCALE'}),
		calls: ['DELETE /subscriptions/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', gateway: 'MANUAL'},
		charges: 1,
	},
};

for (const [what, {prepare, act, calls, ends, charges}] of Object.entries(stories)) {
	for (const call of calls) {
		test.serial(
			`${what} is 502 and changes nothing where ${call} fails, and succeeds when it is repeated`,
			async (t) => {
				const [method = '', path = ''] = call.split(' ');
				for (const [how, fault] of Object.entries(call === 'POST /customers' ? {...faults, ...otherFaults} : faults)) {
					const owner = await prepare();
					const {attempts: _, ...before} = await stage.everythingOf(owner);
					const failing = stage.stripe.fail({method, path, ...fault, times: Number.POSITIVE_INFINITY});
					stage.setLibrary({timeout: 'hang' in fault ? 300 : 10_000});
					const {status, body} = await act(owner);
					stage.setLibrary({timeout: 10_000});
					failing.lift();
					t.like({status, ...body}, {status: 502, error: 'Bad Gateway', message: 'Payment gateway unavailable'}, how);
					const {attempts, ...now} = await stage.everythingOf(owner);
					t.deepEqual(now, before, how);
					t.false(
						attempts.some(({status: one}) => one === 'OPEN'),
						how,
					);
					const again = await act(owner);
					t.is(again.status, 200, how);
					t.deepEqual(new Set([...(await stage.deliverAll()), 200]), new Set([200]), how);
					t.like(await owner.subscription(), ends, how);
					const taken = stage.chargesOf(owner);
					t.is(taken.length, charges, how);
					const paid = (await stage.attemptsOf(owner)).filter((one) => one['status'] === 'PAID');
					t.is(paid.length, charges, how);
				}
			},
		);
	}
}

test.serial(
	'an upgrade whose answer is lost on the way is repeated under the same key, and takes the money once',
	async (t) => {
		const owner = await stage.subscribed('SOLO');
		stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', drop: true, afterwards: true});
		const made = stage.stripe.calls.length;
		stage.setLibrary({maxNetworkRetries: 2});
		t.is((await owner.changePlan('GROWTH')).body.action, 'UPGRADED');
		stage.setLibrary({maxNetworkRetries: 0});
		const keys = stage.stripe.calls.slice(made).flatMap(({headers}) => headers['idempotency-key'] ?? []);
		t.is(keys.length, 2);
		t.regex(String(keys[0]), /^up:/);
		t.is(keys[0], keys[1]);
		await stage.deliverAll();
		t.like(await owner.subscription(), {plan: 'GROWTH', status: 'ACTIVE'});
		t.is(stage.chargesOf(owner).length, 2);
	},
);

test.serial('a cancellation stays at the gateway if an upgrade fails', async (t) => {
	const owner = await stage.subscribed('SOLO');
	await cancel(owner);
	await stage.deliverAll();
	stage.stripe.fail({
		method: 'POST',
		path: '/subscriptions/:id',
		status: 500,
		when: ({body}) => JSON.stringify(body).includes('always_invoice'),
	});
	t.is((await owner.changePlan('SCALE')).status, 502);
	await stage.deliverAll();
	t.like(await owner.subscription(), {plan: 'SOLO', cancelAtPeriodEnd: true});
});

test.serial('a scheduled change stays at the gateway if an upgrade fails', async (t) => {
	const owner = await stage.subscribed('GROWTH');
	await owner.changePlan('SOLO');
	await stage.deliverAll();
	stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', status: 500});
	t.is((await owner.changePlan('SCALE')).status, 502);
	await stage.deliverAll();
	t.like(await owner.subscription(), {plan: 'GROWTH', scheduledPlan: 'SOLO'});
});

test.serial('a downgrade whose answer was lost is known from the gateway', async (t) => {
	const owner = await stage.subscribed('GROWTH');
	const fault = {drop: true, afterwards: true, times: Number.POSITIVE_INFINITY};
	const failing = stage.stripe.fail({method: 'POST', path: '/subscription_schedules/:id', ...fault});
	t.is((await owner.changePlan('SOLO')).status, 502);
	failing.lift();
	t.is((await owner.subscription()).scheduledPlan, null);
	await stage.deliverAll();
	t.is((await owner.subscription()).scheduledPlan, 'SOLO');
});

test.serial('a webhook is 502 where the gateway can not be asked, and applied with the next delivery', async (t) => {
	const owner = await stage.newOwner();
	stage.stripe.pay((await owner.openCheckout()).body.sessionId);
	const events = stage.stripe.events.splice(0);
	const failing = stage.stripe.fail({
		method: 'GET',
		path: '/subscriptions/:id',
		status: 500,
		times: Number.POSITIVE_INFINITY,
	});
	const refused = await stage.stripe.deliver(stage.portal, ...events);
	failing.lift();
	t.deepEqual(new Set(refused.map(({status}) => status)), new Set([502]));
	t.is((await owner.subscription()).status, 'INACTIVE');
	await stage.stripe.deliver(stage.portal, ...events);
	t.is((await owner.subscription()).status, 'ACTIVE');
});
