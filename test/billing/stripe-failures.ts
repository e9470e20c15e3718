import test from 'ava';
import {admin} from '../helpers/callers.ts';
import type {Member} from '../helpers/portal.ts';
import {startedFor} from '../helpers/started.ts';
import {attemptsOf, everythingOf} from './_billing-rows.ts';
import {
	changePlan,
	checkout,
	deliverAll,
	newOwner,
	setLibrary,
	startStripeStage,
	subscribed,
	subscriptionOf,
} from './_stripe-stage.ts';

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
	prepare(): Promise<Member>;
	act(owner: Member): Promise<{status: number; body: Record<string, unknown>}>;
	/** Calls of the operation that can fail. */
	calls: string[];
	/** What is so when a repetition has succeeded and all events have come. */
	ends: object;
	/** How often money was taken in all. */
	charges: number;
};

const cancel = ({caller}: Member) => caller.post('/portal/billing/cancel');

/** Of what the gateway has to tell, the newest alone: it makes us look at everything, and the rest costs its time. */
const deliverNewest = async (): Promise<void> => {
	await stage.stripe.deliver(stage.portal, ...stage.stripe.events.splice(0).slice(-1));
};

const after =
	(plan: string, ...steps: Array<(owner: Member) => Promise<unknown>>) =>
	async (): Promise<Member> => {
		const owner = await newOwner(stage);
		stage.stripe.pay((await checkout(owner, plan)).body.sessionId);
		await deliverNewest();
		for (const step of steps) {
			await step(owner);
			await deliverNewest();
		}

		return owner;
	};

const stories: Record<string, Story> = {
	'a checkout': {
		prepare: () => newOwner(stage),
		act: (owner) => checkout(owner),
		calls: ['POST /customers', 'POST /checkout/sessions'],
		ends: {status: 'INACTIVE', plan: 'GROWTH'},
		charges: 0,
	},
	'an upgrade': {
		prepare: after('SOLO'),
		act: (owner) => changePlan(owner, 'SCALE'),
		calls: ['GET /subscriptions/:id', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', cancelAtPeriodEnd: false},
		charges: 2,
	},
	'an upgrade of what was canceled': {
		prepare: after('SOLO', cancel),
		act: (owner) => changePlan(owner, 'SCALE'),
		calls: ['GET /subscriptions/:id', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', cancelAtPeriodEnd: false},
		charges: 2,
	},
	'a downgrade': {
		prepare: after('SCALE'),
		act: (owner) => changePlan(owner, 'SOLO'),
		calls: ['GET /subscriptions/:id', 'POST /subscription_schedules', 'POST /subscription_schedules/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', scheduledPlan: 'SOLO'},
		charges: 1,
	},
	'a downgrade to nothing': {
		prepare: after('SCALE', (owner) => changePlan(owner, 'SOLO')),
		act: (owner) => changePlan(owner, 'STARTER'),
		calls: ['GET /subscriptions/:id', 'POST /subscription_schedules/:id/release', 'POST /subscriptions/:id'],
		ends: {status: 'ACTIVE', plan: 'SCALE', scheduledPlan: 'STARTER', cancelAtPeriodEnd: true},
		charges: 1,
	},
	'taking a downgrade back': {
		prepare: after('SCALE', (owner) => changePlan(owner, 'SOLO')),
		act: (owner) => changePlan(owner, 'SCALE'),
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
					const {attempts: _, ...before} = await everythingOf(stage, owner);
					const failing = stage.stripe.fail({method, path, ...fault, times: Number.POSITIVE_INFINITY});
					setLibrary(stage, {timeout: 'hang' in fault ? 300 : 10_000});
					const {status, body} = await act(owner);
					setLibrary(stage, {timeout: 10_000});
					failing.lift();
					t.like({status, ...body}, {status: 502, error: 'Bad Gateway', message: 'Payment gateway unavailable'}, how);
					const {attempts, ...now} = await everythingOf(stage, owner);
					t.deepEqual(now, before, how);
					t.false(
						attempts.some(({status: one}) => one === 'OPEN'),
						how,
					);
					const again = await act(owner);
					t.is(again.status, 200, how);
					t.deepEqual(new Set([...(await deliverAll(stage)), 200]), new Set([200]), how);
					t.like(await subscriptionOf(owner), ends, how);
					const taken = stage.stripe.charges.filter(({organizationId}) => organizationId === owner.organization.id);
					t.is(taken.length, charges, how);
					const paid = (await attemptsOf(stage, owner)).filter((one) => one['status'] === 'PAID');
					t.is(paid.length, charges, how);
				}
			},
		);
	}
}

test.serial(
	'an upgrade whose answer is lost on the way is repeated under the same key, and takes the money once',
	async (t) => {
		const owner = await subscribed(stage, 'SOLO');
		stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', drop: true, afterwards: true});
		const made = stage.stripe.calls.length;
		setLibrary(stage, {maxNetworkRetries: 2});
		t.is((await changePlan(owner, 'GROWTH')).body.action, 'UPGRADED');
		setLibrary(stage, {maxNetworkRetries: 0});
		const keys = stage.stripe.calls.slice(made).flatMap(({headers}) => headers['idempotency-key'] ?? []);
		t.is(keys.length, 2);
		t.regex(String(keys[0]), /^up:/);
		t.is(keys[0], keys[1]);
		await deliverAll(stage);
		t.like(await subscriptionOf(owner), {plan: 'GROWTH', status: 'ACTIVE'});
		t.is(stage.stripe.charges.filter(({organizationId}) => organizationId === owner.organization.id).length, 2);
	},
);

test.serial('what was canceled stays canceled at the gateway where an upgrade of it fails', async (t) => {
	const owner = await subscribed(stage, 'SOLO');
	await cancel(owner);
	await deliverAll(stage);
	stage.stripe.fail({
		method: 'POST',
		path: '/subscriptions/:id',
		status: 500,
		when: ({body}) => JSON.stringify(body).includes('always_invoice'),
	});
	t.is((await changePlan(owner, 'SCALE')).status, 502);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'SOLO', cancelAtPeriodEnd: true});
});

test.serial('what was scheduled stays scheduled at the gateway where an upgrade of it fails', async (t) => {
	const owner = await subscribed(stage, 'GROWTH');
	await changePlan(owner, 'SOLO');
	await deliverAll(stage);
	stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', status: 500});
	t.is((await changePlan(owner, 'SCALE')).status, 502);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {plan: 'GROWTH', scheduledPlan: 'SOLO'});
});

test.serial('a downgrade whose answer was lost is known from the gateway', async (t) => {
	const owner = await subscribed(stage, 'GROWTH');
	const fault = {drop: true, afterwards: true, times: Number.POSITIVE_INFINITY};
	const failing = stage.stripe.fail({method: 'POST', path: '/subscription_schedules/:id', ...fault});
	t.is((await changePlan(owner, 'SOLO')).status, 502);
	failing.lift();
	t.is((await subscriptionOf(owner)).scheduledPlan, null);
	await deliverAll(stage);
	t.is((await subscriptionOf(owner)).scheduledPlan, 'SOLO');
});

test.serial('a webhook is 502 where the gateway can not be asked, and applied with the next delivery', async (t) => {
	const owner = await newOwner(stage);
	stage.stripe.pay((await checkout(owner)).body.sessionId);
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
	t.is((await subscriptionOf(owner)).status, 'INACTIVE');
	await stage.stripe.deliver(stage.portal, ...events);
	t.is((await subscriptionOf(owner)).status, 'ACTIVE');
});
