import test from 'ava';
import {approvedDomain, link} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {startedFor} from '../../helpers/started.ts';
import {DAY, type Owner} from './_stage.ts';
import {startStripeStage} from './_stripe-stage.ts';

const stage = startedFor(test, () => startStripeStage());

/** The entitlements: a feature, a quota, and the answer that the success page polls. */
const entitled = async ({caller, activeSubscription}: Owner) => ({
	keys: !(await caller.get('/portal/api-keys')).body.locked,
	links: (await caller.get('/portal/usage')).body.links.limit,
	active: (await activeSubscription())?.status ?? null,
});

const growth = (active: string) => ({keys: true, links: 10_000, active});
const starter = {keys: false, links: 50, active: null};

test.serial('a failed renewal keeps the entitlements for 7 days, to the second', async (t) => {
	const owner = await stage.pastDue(31);
	t.deepEqual(await entitled(owner), growth('PAST_DUE'));
	// A later try that fails as well does not begin the days anew.
	await stage.deliverAfter(4);
	t.deepEqual(await entitled(owner), growth('PAST_DUE'));
	stage.portal.clock.advance(3 * DAY - 1);
	t.deepEqual(await entitled(owner), growth('PAST_DUE'));
	stage.portal.clock.advance(1);
	t.deepEqual(await entitled(owner), starter);
	t.like(await owner.state(), {status: 'PAST_DUE', plan: 'GROWTH', uses: 'GROWTH'});
	await stage.setCard(owner, 'works');
	await stage.deliverAfter(1);
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
	t.like(await owner.state(), {status: 'ACTIVE', invoices: 2});
	t.is((await stage.everythingOf(owner)).subscription[0]?.['past_due_at'], null);
});

test.serial('a custom domain serves for the 7 days of a failed renewal, and again once it is paid', async (t) => {
	const hostname = 'go.acme-paid.example';
	const owner = await stage.subscribed();
	const domain = await approvedDomain(owner.organization, hostname);
	const {shortCode} = await link(owner.organization, {domainId: domain.id});
	const path = `/${owner.organization.orgKey}/${shortCode}`;
	/** The domain's answer, and the host of the URL on the link's page of the shared domain, which stays in memory. */
	const seen = async () => {
		const {text} = await anonymous(stage.portal).get(path, {'User-Agent': 'Slackbot-LinkExpanding 1.0'});
		const [, host] = /property="og:url" content="https?:\/\/([^/"]+)/.exec(text) ?? [];
		return [(await anonymous(stage.portal).get(path, {Host: hostname})).status, host === hostname];
	};
	await stage.setCard(owner, 'declines');
	await stage.deliverAfter(31);
	t.deepEqual(await seen(), [200, true]);
	stage.portal.clock.advance(7 * DAY - 1);
	t.deepEqual(await seen(), [200, true]);
	stage.portal.clock.advance(1);
	t.deepEqual(await seen(), [404, false]);
	await stage.setCard(owner, 'works');
	await stage.deliverAfter(1);
	t.deepEqual(await seen(), [200, true]);
	await stage.setPlan(owner, 'STARTER');
	t.deepEqual(await seen(), [404, false]);
});

test.serial('with every webhook lost the plan ends 7 days after the period that was paid', async (t) => {
	const owner = await stage.subscribed();
	const {currentPeriodEnd} = await owner.subscription();
	stage.portal.clock.set(new Date(Date.parse(currentPeriodEnd) + 7 * DAY * 1000 - 1000));
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
	stage.portal.clock.advance(1);
	t.deepEqual(await entitled(owner), starter);
	t.like(await owner.subscription(), {status: 'ACTIVE', plan: 'GROWTH'});
	stage.stripe.advance();
	await stage.deliverAll();
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
});

test.serial('cancel, then the period ends while the webhook is delayed: the plan ends nevertheless', async (t) => {
	const owner = await stage.subscribed();
	await owner.cancel();
	stage.pass(31);
	t.deepEqual(await entitled(owner), growth('ACTIVE'));
	stage.pass(7);
	t.deepEqual(await entitled(owner), starter);
	await stage.deliverAll();
	t.like(await owner.subscription(), {status: 'CANCELED'});
	t.deepEqual(await entitled(owner), starter);
});

test.serial('a renewal moves the end, without a gap', async (t) => {
	const owner = await stage.subscribed();
	for (const _ of [1, 2, 3]) {
		stage.pass(31);
		t.deepEqual(await entitled(owner), growth('ACTIVE'));
		await stage.deliverAll();
		t.deepEqual(await entitled(owner), growth('ACTIVE'));
	}
});
