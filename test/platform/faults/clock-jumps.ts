import {randomUUID} from 'node:crypto';
import {readdir} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {pino} from 'pino';
import {createPaymobHttp} from '../../../src/accounts/billing/paymob/paymob-http.ts';
import {call, createStripe} from '../../../src/accounts/billing/stripe/stripe-client.ts';
import {startJobs} from '../../../src/operations/jobs/start-jobs.ts';
import {withLeaseIfFree} from '../../../src/platform/db/lease.ts';
import {startFakePaymob} from '../../fakes/paymob/paymob.ts';
import {startFakeStripe} from '../../fakes/stripe/stripe.ts';
import {link, organization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {member, portalOf, startPortal} from '../../helpers/portal.ts';
import {createFakeClock, storedRows} from '../../helpers/service.ts';
import {startedIn} from '../../helpers/started.ts';

const HOUR = 3600;
const MONTH = 31 * 24 * HOUR;

const portal = portalOf(test);

/** Seconds that the clock is set by, one after the other, and back to where it was in the end. */
const jumps = [HOUR, -HOUR, -HOUR, HOUR, MONTH, -2 * MONTH, MONTH];

test.serial('clicks of any time are stored once, and the last signals still match', async (t) => {
	const acme = await organization(portal);
	const {id, url} = await link(acme);
	let token = '';
	for (const jump of jumps) {
		portal.clock.advance(jump);
		const {status, text} = await anonymous(portal).get(new URL(url).pathname);
		t.is(status, 200);
		token = /opl_\w{32}/.exec(text)?.[0] ?? '';
	}

	const {body} = await anonymous(portal).post('/match', {clipboardToken: token});
	t.like(body, {matched: true, linkId: id});
	t.is((await storedRows(portal, 'clicks', {link_id: id})).length, jumps.length);
	t.is((await storedRows(portal, 'match_clicks', {link_id: id})).length, jumps.length);
	const counts = await storedRows(portal, 'click_counts', {organization_id: acme.id});
	const sum = counts.reduce((total, {clicks}) => total + Number(clicks), 0);
	t.is(sum, jumps.length);
	t.like(portal.services.clickJournal.figures(), {lost: 0, refused: 0, waitingBytes: 0});
	const root = path.join(portal.services.config.dataDir, 'journal');
	const [database = ''] = await readdir(root);
	t.is((await readdir(path.join(root, database))).length, 1);
});

test.serial('a session of another time ends with its own time, and a new one begins at once', async (t) => {
	const mona = await member(portal, {role: 'owner'});
	for (const jump of jumps) {
		const token = await portal.provider.token({user: mona.user.clerkUserId, organization: mona.clerkOrgId});
		const asked = () => anonymous(portal).get('/portal/organization', {Authorization: `Bearer ${token}`});
		t.is((await asked()).status, 200);
		portal.clock.advance(jump);
		t.is((await asked()).status, 401, 'of another time');
		t.is((await mona.caller.get('/portal/organization')).status, 200, 'made now');
	}
});

test.serial('a lease from the future blocks nobody, a current one does', async (t) => {
	const {db, clock} = portal.services;
	const isFree = async (secondsLeft: number): Promise<boolean> => {
		const name = `test:${secondsLeft}`;
		const ends = new Date(clock.now().getTime() + secondsLeft * 1000);
		await db('leases').insert({name, holder: randomUUID(), expires_at: ends});
		let ran = false;
		await withLeaseIfFree({db, clock}, name, async () => {
			ran = true;
		});
		return ran;
	};
	t.false(await isFree(50));
	// Of a process whose clock goes two minutes ahead.
	t.false(await isFree(180));
	// Of one that died, and whose clock was an hour ahead.
	t.true(await isFree(HOUR));
});

test.serial('the jobs of every time end well', async (t) => {
	const {background, metrics} = portal.services;
	for (const jump of jumps) {
		portal.clock.advance(jump);
		const stop = startJobs(portal.services);
		await background.settle();
		stop();
	}

	const text = await metrics.registry.metrics();
	t.regex(text, /oplink_job_last_success_timestamp_seconds\{task="drop_clicks"\} [1-9]/);
	t.notRegex(text, /oplink_job_failures_total\{[^}]*\} [1-9]/);
});

const clock = createFakeClock();
const forEver = {hang: true, times: Number.POSITIVE_INFINITY};

test('a key set that never answers delays only sessions, which end with 502', async (t) => {
	const portal = await startedIn(t, startPortal());
	portal.provider.fail({...forEver, path: '/.well-known/jwks.json'});
	const mona = await member(portal, {role: 'owner'});
	const {url} = await link(await organization(portal));
	let isAnswered = false;
	const asked = mona.caller.get('/portal/organization').finally(() => {
		isAnswered = true;
	});
	t.is((await anonymous(portal).get(new URL(url).pathname)).status, 200);
	t.is((await anonymous(portal).get('/health/ready')).status, 200);
	t.false(isAnswered);
	t.like(await asked, {status: 502, body: {message: 'Identity provider unavailable'}});
});

test('gateway A that never answers is asked three times at most, under one key, and given up with 502', async (t) => {
	const fake = await startedIn(t, startFakeStripe({clock}));
	fake.fail(forEver);
	const config = {secretKey: fake.env.STRIPE_SECRET_KEY, webhookSecret: '', apiUrl: fake.env.STRIPE_API_URL};
	const stripe = createStripe(config, {timeoutMs: 30});
	const error = await t.throwsAsync(call(stripe.customers.create({name: 'Acme'})));
	t.like(error, {status: 502, message: 'Payment gateway unavailable'});
	// A try that ran out of time may not have come.
	t.true(fake.calls.length <= 3);
	t.true(new Set(fake.calls.map(({headers}) => headers['idempotency-key'])).size <= 1);
});

test('a gateway B that never answers is asked at most once, and success is not reported', async (t) => {
	const fake = await startedIn(t, startFakePaymob({clock}));
	fake.fail(forEver);
	const ask = createPaymobHttp({apiUrl: fake.url, log: pino({level: 'silent'}), timeoutMs: 30});
	t.is(await ask({method: 'POST', path: '/v1/intention/', authorization: null, body: {}}), null);
	t.true(fake.calls.length <= 1);
});
