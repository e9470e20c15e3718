import test from 'ava';
import {pino} from 'pino';
import {createPaymobHttp} from '../../src/billing/paymob/paymob-http.ts';
import {ask, createStripe} from '../../src/billing/stripe/stripe-client.ts';
import {startFakePaymob} from '../fakes/paymob/paymob.ts';
import {startFakeStripe} from '../fakes/stripe/stripe.ts';
import {link, organization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {member, startPortal} from '../helpers/portal.ts';
import {createFakeClock} from '../helpers/service.ts';

const clock = createFakeClock();
const forEver = {hang: true, times: Number.POSITIVE_INFINITY};

test('a key set that never answers delays only sessions, which end with 502', async (t) => {
	const portal = await startPortal();
	t.teardown(() => portal.stop());
	portal.provider.fail({...forEver, path: '/.well-known/jwks.json'});
	const mona = await member(portal, {role: 'owner'});
	let isAnswered = false;
	const asked = mona.caller.get('/portal/organization').finally(() => {
		isAnswered = true;
	});
	const {url} = await link(await organization(portal));
	t.is((await anonymous(portal).get(new URL(url).pathname)).status, 200);
	t.is((await anonymous(portal).get('/health/ready')).status, 200);
	t.false(isAnswered);
	const {status, body} = await asked;
	t.deepEqual([status, body.message], [502, 'Identity provider unavailable']);
});

test('gateway A that never answers is asked three times at most, under one key, and given up with 502', async (t) => {
	const fake = await startFakeStripe({clock});
	t.teardown(() => fake.stop());
	fake.fail(forEver);
	const config = {secretKey: fake.env.STRIPE_SECRET_KEY, webhookSecret: '', apiUrl: fake.env.STRIPE_API_URL};
	const stripe = createStripe(config, {timeoutMs: 30});
	const error = await t.throwsAsync(ask(stripe.customers.create({name: 'Acme'})));
	t.like(error, {status: 502, message: 'Payment gateway unavailable'});
	// A try that ran out of time may not have come.
	t.true(fake.calls.length <= 3);
	t.true(new Set(fake.calls.map(({headers}) => headers['idempotency-key'])).size <= 1);
});

test('a gateway B that never answers is asked at most once, and success is not reported', async (t) => {
	const fake = await startFakePaymob({clock});
	t.teardown(() => fake.stop());
	fake.fail(forEver);
	const ask = createPaymobHttp({apiUrl: fake.url, log: pino({level: 'silent'}), timeoutMs: 30});
	t.is(await ask({method: 'POST', path: '/v1/intention/', authorization: null, body: {}}), null);
	t.true(fake.calls.length <= 1);
});
