import test from 'ava';
import {link} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import type {Member} from '../helpers/portal.ts';
import {
	DAY,
	deliverAll,
	idsOf,
	pass,
	planOf,
	type StripeStage,
	startStripeStage,
	subscribed,
	subscriptionOf,
} from './_stripe-stage.ts';

let stage: StripeStage;
test.beforeEach(async () => {
	stage = await startStripeStage();
});
test.afterEach.always(() => stage?.stop());

/** What an organization gets of its plan: features, quotas, and what the success page polls. */
const entitled = async ({caller}: Member) => ({
	keys: !(await caller.get('/portal/api-keys')).body.locked,
	links: (await caller.get('/portal/usage')).body.links.limit,
	active: (await caller.get('/portal/billing/subscription/active')).body.subscription?.status ?? null,
});

const growth = (active: string) => ({keys: true, links: 10_000, active});
const starter = {keys: false, links: 50, active: null};

test.serial('a renewal that fails leaves what the plan gives for 7 days from then, to the second', async (t) => {
	const owner = await subscribed(stage);
	const {customer} = await idsOf(stage, owner);
	stage.stripe.setCard(customer, 'declines');
	pass(stage, 31);
	await deliverAll(stage);
	t.deepEqual(await entitled(owner), growth('PAST_DUE'));
	// A later try that fails as well does not begin the days anew.
	pass(stage, 4);
	await deliverAll(stage);
	t.deepEqual(await entitled(owner), growth('PAST_DUE'));
	stage.portal.clock.advance(3 * DAY - 1);
	t.deepEqual(await entitled(owner), growth('PAST_DUE'));
	stage.portal.clock.advance(1);
	t.deepEqual(await entitled(owner), starter);
	t.like(await subscriptionOf(owner), {status: 'PAST_DUE', plan: 'GROWTH'});
	t.is(await planOf(owner), 'GROWTH');
	stage.stripe.setCard(customer, 'works');
	pass(stage, 1);
	await deliverAll(stage);
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
});

test.serial('a custom domain serves for the 7 days of a failed renewal, and again once it is paid', async (t) => {
	const hostname = 'go.acme-paid.example';
	const owner = await subscribed(stage);
	const operator = admin(stage.portal);
	const base = `/admin/organizations/${owner.organization.id}`;
	const {body: domain} = await operator.post(`${base}/domains`, {hostname});
	await operator.post(`${base}/domains/${domain.id}/approve`);
	const {shortCode} = await link(owner.organization, {domainId: domain.id});
	const path = `/${owner.organization.orgKey}/${shortCode}`;
	/** What the domain answers, and the host of the URL on the link's page of the shared one, which stays in memory. */
	const seen = async () => {
		const {text} = await anonymous(stage.portal).get(path, {'User-Agent': 'Slackbot-LinkExpanding 1.0'});
		const [, host] = /property="og:url" content="https?:\/\/([^/"]+)/.exec(text) ?? [];
		return [(await anonymous(stage.portal).get(path, {Host: hostname})).status, host === hostname];
	};
	const {customer} = await idsOf(stage, owner);
	stage.stripe.setCard(customer, 'declines');
	pass(stage, 31);
	await deliverAll(stage);
	t.deepEqual(await seen(), [200, true]);
	stage.portal.clock.advance(7 * DAY - 1);
	t.deepEqual(await seen(), [200, true]);
	stage.portal.clock.advance(1);
	t.deepEqual(await seen(), [404, false]);
	stage.stripe.setCard(customer, 'works');
	pass(stage, 1);
	await deliverAll(stage);
	t.deepEqual(await seen(), [200, true]);
	await operator.put(`${base}/plan`, {plan: 'STARTER'});
	t.deepEqual(await seen(), [404, false]);
});

test.serial('with every webhook lost the plan ends 7 days after the period that was paid', async (t) => {
	const owner = await subscribed(stage);
	const {currentPeriodEnd} = await subscriptionOf(owner);
	stage.portal.clock.set(new Date(Date.parse(currentPeriodEnd) + 7 * DAY * 1000 - 1000));
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
	stage.portal.clock.advance(1);
	t.deepEqual(await entitled(owner), starter);
	t.like(await subscriptionOf(owner), {status: 'ACTIVE', plan: 'GROWTH'});
	stage.stripe.advance();
	await deliverAll(stage);
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
});

test.serial('cancel, then the period ends while the webhook is delayed: the plan ends all the same', async (t) => {
	const owner = await subscribed(stage);
	await owner.caller.post('/portal/billing/cancel');
	pass(stage, 31);
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
	pass(stage, 7);
	t.deepEqual(await entitled(owner), starter);
	await deliverAll(stage);
	t.like(await subscriptionOf(owner), {status: 'CANCELED'});
	t.deepEqual(await entitled(owner), starter);
});

test.serial('a renewal moves the end, without a gap', async (t) => {
	const owner = await subscribed(stage);
	for (const _ of [1, 2, 3]) {
		pass(stage, 31);
		t.deepEqual(await entitled(owner), growth('ACTIVE'));
		await deliverAll(stage);
		t.deepEqual(await entitled(owner), growth('ACTIVE'));
	}
});
