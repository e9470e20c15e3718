import test, {type ExecutionContext} from 'ava';
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
const allFaults: Record<string, object> = {
	...faults,
	...Object.fromEntries([400, 401, 402, 429].map((status) => [`answers ${status}`, {status}])),
	'answers a page of a proxy': {rawBody: '<html>Bad gateway</html>'},
	'does not answer': {hang: true},
	'ends the connection': {drop: true},
};

type Story = {
	prepare(): Promise<Owner>;
	act(owner: Owner): Promise<{status: number; body: Record<string, unknown>}>;
	/** Calls of the operation that can fail. */
	calls: string[];
	/** The result once a repetition has succeeded and all events have come; ACTIVE unless it says otherwise. */
	ends: object;
	/** How often money was taken in all; once unless given. */
	charges?: number;
};

const GET = 'GET /subscriptions/:id';
const UPDATE = 'POST /subscriptions/:id';
const RELEASE = 'POST /subscription_schedules/:id/release';

const change = (plan: string) => (owner: Owner) => owner.changePlan(plan);
const cancel = (owner: Owner) => owner.cancel();

/** Delivers the newest event alone: it causes a full sync, and the others cost time. */
const deliverNewest = async (): Promise<void> => {
	await stage.stripe.deliver(stage.portal, ...stage.stripe.events.splice(0).slice(-1));
};

const after =
	(plan: string, ...steps: Array<(owner: Owner) => Promise<unknown>>) =>
	async (): Promise<Owner> => {
		const owner = await stage.payer(plan);
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
		act: change('SCALE'),
		calls: [GET, UPDATE],
		ends: {plan: 'SCALE', cancelAtPeriodEnd: false},
		charges: 2,
	},
	'an upgrade after a cancellation': {
		prepare: after('SOLO', cancel),
		act: change('SCALE'),
		calls: [GET, UPDATE],
		ends: {plan: 'SCALE', cancelAtPeriodEnd: false},
		charges: 2,
	},
	'a downgrade': {
		prepare: after('SCALE'),
		act: change('SOLO'),
		calls: [GET, 'POST /subscription_schedules', 'POST /subscription_schedules/:id'],
		ends: {plan: 'SCALE', scheduledPlan: 'SOLO'},
	},
	'a downgrade to nothing': {
		prepare: after('SCALE', change('SOLO')),
		act: change('STARTER'),
		calls: [GET, RELEASE, UPDATE],
		ends: {plan: 'SCALE', scheduledPlan: 'STARTER', cancelAtPeriodEnd: true},
	},
	'taking a downgrade back': {
		prepare: after('SCALE', change('SOLO')),
		act: change('SCALE'),
		calls: [GET, RELEASE],
		ends: {plan: 'SCALE', scheduledPlan: null},
	},
	'a cancellation': {prepare: after('GROWTH'), act: cancel, calls: [GET, UPDATE], ends: {cancelAtPeriodEnd: true}},
	'a resume': {
		prepare: after('GROWTH', cancel),
		act: (owner) => owner.resume(),
		calls: [GET, UPDATE],
		ends: {cancelAtPeriodEnd: false},
	},
	'a portal session': {
		prepare: after('GROWTH'),
		act: ({caller}) => caller.post('/portal/billing/portal-session'),
		calls: ['POST /billing_portal/sessions'],
		ends: {plan: 'GROWTH'},
	},
	'a plan set by ops': {
		prepare: after('GROWTH'),
		act: (owner) => stage.setPlan(owner, 'SCALE'),
		calls: ['DELETE /subscriptions/:id'],
		ends: {plan: 'SCALE', gateway: 'MANUAL'},
	},
};

/** Lets a call fail until that is lifted. */
const failAlways = (call: string, fault: object) => {
	const [method = '', path = ''] = call.split(' ');
	return stage.stripe.fail({method, path, ...fault, times: Number.POSITIVE_INFINITY});
};

/** Lets a call fail in all these ways, one after another, and then succeed. */
const failsAndRecovers = async (t: ExecutionContext, story: Story, call: string, ways: Record<string, object>) => {
	const {prepare, act, ends, charges = 1} = story;
	const owner = await prepare();
	const {attempts: _, ...before} = await stage.everythingOf(owner);
	for (const [how, fault] of Object.entries(ways)) {
		const failing = failAlways(call, fault);
		stage.setLibrary({timeout: 'hang' in fault ? 300 : 10_000});
		const {status, body} = await act(owner);
		stage.setLibrary({timeout: 10_000});
		failing.lift();
		t.like({status, ...body}, {status: 502, error: 'Bad Gateway', message: 'Payment gateway unavailable'}, how);
		const {attempts, ...now} = await stage.everythingOf(owner);
		t.deepEqual(now, before, how);
		t.false(attempts.map((attempt) => attempt['status']).includes('OPEN'), how);
	}

	t.is((await act(owner)).status, 200);
	t.deepEqual(new Set([...(await stage.deliverAll()), 200]), new Set([200]));
	t.like(await owner.subscription(), {status: 'ACTIVE', ...ends});
	t.is(stage.chargesOf(owner).length, charges);
	t.is((await stage.attemptStatuses(owner)).filter((one) => one === 'PAID').length, charges);
};

for (const [what, story] of Object.entries(stories)) {
	for (const call of story.calls) {
		test.serial(`${what} is 502 and changes nothing while ${call} fails, and succeeds when repeated`, async (t) => {
			await failsAndRecovers(t, story, call, call === 'POST /customers' ? allFaults : faults);
		});
	}
}

test.serial('an upgrade whose answer is lost is repeated under the same key, and takes the money once', async (t) => {
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
});

test.serial('a cancellation and a scheduled change stay at the gateway if an upgrade fails', async (t) => {
	for (const {from, prepare, kept} of [
		{from: 'SOLO', prepare: cancel, kept: {cancelAtPeriodEnd: true}},
		{from: 'GROWTH', prepare: change('SOLO'), kept: {scheduledPlan: 'SOLO'}},
	]) {
		const owner = await stage.subscribed(from);
		await prepare(owner);
		await stage.deliverAll();
		// The update that charges; another one may precede it.
		const when = ({body}: {body: unknown}) => JSON.stringify(body).includes('always_invoice');
		stage.stripe.fail({method: 'POST', path: '/subscriptions/:id', status: 500, when});
		t.is((await owner.changePlan('SCALE')).status, 502);
		await stage.deliverAll();
		t.like(await owner.subscription(), {plan: from, ...kept});
	}
});

test.serial('a downgrade whose answer was lost is known from the gateway', async (t) => {
	const owner = await stage.subscribed('GROWTH');
	const failing = failAlways('POST /subscription_schedules/:id', {drop: true, afterwards: true});
	t.is((await owner.changePlan('SOLO')).status, 502);
	failing.lift();
	t.is((await owner.subscription()).scheduledPlan, null);
	await stage.deliverAll();
	t.is((await owner.subscription()).scheduledPlan, 'SOLO');
});

test.serial('a webhook is 502 where the gateway can not be asked, and applied with the next delivery', async (t) => {
	const owner = await stage.payer();
	const events = stage.takeEvents();
	const failing = failAlways(GET, {status: 500});
	const refused = await stage.stripe.deliver(stage.portal, ...events);
	failing.lift();
	t.deepEqual(new Set(refused.map(({status}) => status)), new Set([502]));
	t.is((await owner.subscription()).status, 'INACTIVE');
	await stage.stripe.deliver(stage.portal, ...events);
	t.is((await owner.subscription()).status, 'ACTIVE');
});
