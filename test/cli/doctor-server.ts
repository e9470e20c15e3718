import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {checkConfiguration} from '../../src/operations/doctor/configuration.ts';
import {judgeSpace} from '../../src/operations/doctor/disk.ts';
import {checkIdentityProvider, judgeKeySet} from '../../src/operations/doctor/identity-provider.ts';
import {checkPaymob} from '../../src/operations/doctor/paymob.ts';
import {checkStripe} from '../../src/operations/doctor/stripe.ts';
import {type Finding, worstOf} from '../../src/operations/finding.ts';
import {type Config, loadConfig} from '../../src/platform/config/config.ts';
import {startIdentityProvider} from '../fakes/identity-provider/identity-provider.ts';
import {startFakePaymob} from '../fakes/paymob/paymob.ts';
import {startFakeStripe} from '../fakes/stripe/stripe.ts';
import {exampleAppConfig, organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {createTestDatabase} from '../helpers/database.ts';
import {folderOf} from '../helpers/folder.ts';
import {createRunningClock, serviceOf, startService, type TestService} from '../helpers/service.ts';
import {startedIn} from '../helpers/started.ts';

/** The findings other than ok, as `status check`; each has a next step. */
const faultsIn = (t: ExecutionContext, findings: Finding[]): string[] => {
	// The embedded PostgreSQL grows old with the calendar.
	const faults = findings.filter(({status, check}) => status !== 'ok' && check !== 'database.age');
	t.true(faults.every(({next}) => next !== null));
	return faults.map(({status, check}) => `${status} ${check}`);
};

/** The doctor's findings other than ok. */
const faultsOf = async (t: ExecutionContext, service: TestService): Promise<string[]> => {
	const {status, body} = await admin(service).get('/admin/doctor');
	t.is(status, 200);
	const faults = faultsIn(t, body.findings);
	t.is(body.status, worstOf(body.findings));
	return faults;
};

const closed = 'http://127.0.0.1:1';

/** Without it a copy of the database has usable keys, of which the doctor warns. */
const keySecret = {OPLINK_KEY_SECRET: 'd0e5ce8a5f8a4b8f9d0c'};
const service = serviceOf(test, keySecret, createRunningClock());

test.serial('a complete service has no fault', async (t) => {
	t.deepEqual(await faultsOf(t, service), []);
});

test.serial('a clock difference and a missing migration are reported', async (t) => {
	const {db} = service.services;
	const isLast = {id: db('migrations').max('id')};
	const last = await db('migrations').where(isLast).delete().returning(['name', 'migration_time']);
	service.clock.set(new Date(Date.now() - 3_600_000));
	const {body} = await admin(service).get('/admin/doctor');
	service.clock.set(new Date());
	await db('migrations').insert(last);
	const messageOf = (check: string) => (body.findings as Finding[]).find((one) => one.check === check)?.message;
	t.regex(messageOf('database.clock') ?? '', /^its clock is 36\d\d s ahead of that of the server$/);
	t.regex(messageOf('database.migrations') ?? '', /^1 migration pending: \d+_/);
});

test.serial('an unreachable database is a failure, and the other findings are still reported', async (t) => {
	const database = await createTestDatabase();
	const away = {...database, url: 'postgresql://nobody@127.0.0.1:1/nothing'};
	const service = await startedIn(t, startService(keySecret, createRunningClock(), away));
	t.deepEqual(await faultsOf(t, service), ['fail database.reachable']);
	const {body} = await admin(service).get('/admin/doctor');
	t.regex(body.findings.find(({check}: Finding) => check === 'database.reachable').message, /ECONNREFUSED/);
	t.deepEqual(body.hosts, []);
});

/** For changes to an environment: the faults of the configuration, and those that a check finds where it leads. */
const finds = async (
	t: ExecutionContext,
	check: (config: Config) => Promise<Finding[]>,
	env: Record<string, string>,
	rows: Array<[changes: Record<string, string>, faults: string[]]>,
): Promise<void> => {
	for (const [changes, faults] of rows) {
		const config = loadConfig({...keySecret, ...env, ...changes});
		const findings = [...checkConfiguration(config), ...(await check(config))];
		t.deepEqual(faultsIn(t, findings), faults, JSON.stringify(changes));
	}
};

test.serial('an unreachable Redis, services that refuse our keys and a shifted clock are reported', async (t) => {
	const clock = createRunningClock();
	const others = await Promise.all([startIdentityProvider(), startFakeStripe({clock}), startFakePaymob({clock})]);
	const environments = {
		...keySecret,
		...Object.assign({}, ...others.map(({env}) => env)),
		CLOCK_OFFSET: '86400',
		REDIS_URL: 'redis://127.0.0.1:1',
		IDP_API_KEY: 'sk_test_wrong',
		STRIPE_SECRET_KEY: 'sk_test_wrong',
		PAYMOB_API_KEY: 'wrong',
	};
	const service = await startService(environments, createRunningClock());
	t.teardown(() => Promise.all([service, ...others].map((one) => one.stop())));
	service.clock.set(new Date(Date.now() + 86_400_000));
	t.deepEqual(await faultsOf(t, service), [
		// The plans have no prices at Stripe.
		'warn configuration.warning',
		// It is the machine's clock that is compared with that of the database.
		'warn configuration.clockOffset',
		'fail redis.reachable',
		'fail identity.apiKey',
		'fail stripe.key',
		'fail paymob.apiKey',
	]);
});

test('an identity provider is asked for its keys and with our key', async (t) => {
	const provider = await startedIn(t, startIdentityProvider());
	await finds(t, checkIdentityProvider, provider.env, [
		[{}, []],
		[{IDP_API_KEY: 'sk_test_wrong'}, ['fail identity.apiKey']],
		[{IDP_JWKS_URL: `${provider.url}/nothing`}, ['fail identity.keySet']],
		[{IDP_JWKS_URL: closed, IDP_API_URL: closed}, ['fail identity.keySet', 'fail identity.apiKey']],
		[{OPS_ORG_ID: 'org_nobody'}, ['warn identity.opsOrganization']],
		[{IDP_API_KEY: ''}, ['warn identity.apiKey']],
		[{IDP_WEBHOOK_SECRET: 'whsec_x'}, ['warn configuration.warning']],
	]);
});

test('a key set without a key for RS256 is a failure', (t) => {
	const set = (...keys: object[]) => ({status: 200, body: {keys}});
	t.is(judgeKeySet('x', set({kty: 'RSA', alg: 'RS256', use: 'sig'})).status, 'ok');
	t.is(judgeKeySet('x', set({kty: 'RSA'}, {kty: 'EC', alg: 'ES256'})).message, 'the key set has 1 key');
	t.is(judgeKeySet('x', set({kty: 'RSA', alg: 'RS512'}, {kty: 'RSA', use: 'enc'})).status, 'fail');
	t.is(judgeKeySet('x', {status: 200, body: undefined}).status, 'fail');
});

/** A plans file in which plans are sold at prices that Stripe has. */
const plansFile = async (t: ExecutionContext, prices: Record<string, string>): Promise<string> => {
	const folder = await folderOf(t);
	const quotas = {links: 10, clicks: 10, members: 10, domains: 10};
	const features = {api_access: true, custom_domains: true};
	const plans = Object.entries(prices).map(([name, stripePrice]) => [
		name,
		{quotas, features, prices: {USD: 1900, EGP: 0}, stripePrice},
	]);
	const file = path.join(folder, 'plans.json');
	await writeFile(file, JSON.stringify(Object.fromEntries(plans)));
	return file;
};

test('Stripe is asked with our key for the prices of the plans; placeholders are a warning', async (t) => {
	const gateway = await startedIn(
		t,
		startFakeStripe({
			clock: createRunningClock(),
			prices: {price_good: {amount: 1900}, price_yearly: {amount: 1900, interval: 'year'}},
		}),
	);
	const good = await plansFile(t, {SOLO: 'price_good'});
	await finds(t, checkStripe, gateway.env, [
		[{PLANS_FILE: good}, []],
		[{}, ['warn configuration.warning']],
		[{PLANS_FILE: good, STRIPE_SECRET_KEY: 'sk_test_wrong'}, ['fail stripe.key']],
		[{PLANS_FILE: good, STRIPE_API_URL: closed}, ['fail stripe.reachable']],
		[{PLANS_FILE: good, STRIPE_WEBHOOK_SECRET: ''}, ['warn stripe.webhookSecret']],
		[
			{PLANS_FILE: await plansFile(t, {SOLO: 'price_yearly', GROWTH: 'price_gone'})},
			['warn stripe.price', 'fail stripe.price'],
		],
	]);
});

test('Paymob is asked whether it accepts our API key', async (t) => {
	const gateway = await startedIn(t, startFakePaymob({clock: createRunningClock(), hasMoto: true}));
	await finds(t, checkPaymob, gateway.env, [
		[{}, []],
		[{PAYMOB_API_KEY: 'wrong'}, ['fail paymob.apiKey']],
		[{PAYMOB_API_URL: closed}, ['fail paymob.reachable']],
		[
			{PAYMOB_API_KEY: '', PAYMOB_HMAC_SECRET: '', PAYMOB_MOTO_INTEGRATION_ID: ''},
			['warn paymob.apiKey', 'warn paymob.hmacSecret', 'warn paymob.moto'],
		],
	]);
});

test('endpoints on this machine are reported where several organizations share it without NODE_ENV=production', async (t) => {
	const local = async (NODE_ENV: string) => {
		const own = await startedIn(t, startService({NODE_ENV, ...keySecret}, createRunningClock()));
		await organization(own);
		const alone = await faultsOf(t, own);
		await organization(own);
		return [alone, await faultsOf(t, own)];
	};
	t.deepEqual(await local('development'), [[], ['warn webhooks.local']]);
	t.deepEqual(await local('production'), [[], []]);
});

test.serial('hosts are the link domain and verified domains, with the expected contents of their files', async (t) => {
	const [acme, beta, closedOne] = await Promise.all([
		organization(service),
		organization(service, {appConfig: null}),
		organization(service),
	]);
	const operator = admin(service);
	for (const [{id}, hostname, step] of [
		[acme, 'go.acme.example', 'approve'],
		[acme, 'new.acme.example', null],
		[beta, 'go.beta.example', 'approve'],
		[closedOne, 'go.closed.example', 'approve'],
	] as const) {
		const {body} = await operator.post(`/admin/organizations/${id}/domains`, {hostname});
		if (step !== null) {
			await operator.post(`/admin/organizations/${id}/domains/${body.id}/${step}`);
		}
	}

	await operator.post(`/admin/organizations/${closedOne.id}/suspend`);
	const {ios, android} = exampleAppConfig;
	const app = `${ios.teamId}.${ios.bundleId}`;
	const ofAndroid = android.map(({packageName, sha256Fingerprints}) => `${packageName} ${sha256Fingerprints[0]}`);
	const acmeHost = {
		...{url: 'https://go.acme.example', orgKey: acme.orgKey, isPart: false},
		apple: [`${app} /*`],
		android: ofAndroid,
	};
	const all = (await operator.get('/admin/doctor')).body.hosts;
	t.like(all[0], {orgKey: null, isPart: false, apple: [`${app} /${acme.orgKey}/*`], android: ofAndroid});
	t.deepEqual(all.slice(1), [
		acmeHost,
		{url: 'https://go.beta.example', orgKey: beta.orgKey, isPart: false, apple: [], android: []},
	]);
	const named = (await operator.get(`/admin/doctor?org=${acme.orgKey}&org=${acme.id}`)).body.hosts;
	t.deepEqual(named.slice(1), [acmeHost]);
	t.true(named[0].isPart);
	t.is((await operator.get('/admin/doctor?org=Nope1')).status, 404);
});

test('keys in the clear and the token that documents showed are warnings', async (t) => {
	const published = 'at-least-32-visible-characters-without-a-space';
	await finds(t, async () => [], {}, [
		[{OPLINK_KEY_SECRET: ''}, ['warn configuration.keySecret']],
		[{ADMIN_TOKEN: published}, ['warn configuration.warning']],
		[{ADMIN_TOKEN: `${published}x`}, []],
	]);
});

test('free space below 1 GiB is a warning, below 256 MiB a failure', (t) => {
	const gibibyte = 1024 ** 3;
	t.like(judgeSpace('/data', 20 * gibibyte), {status: 'ok', message: '20.0 GiB free for DATA_DIR /data'});
	t.like(judgeSpace('/data', gibibyte - 1), {status: 'warn'});
	t.like(judgeSpace('/data', gibibyte / 8), {status: 'fail', message: '128 MiB free for DATA_DIR /data'});
});

test.serial(
	'guesses of high confidence are judged once tokens graded enough of an organization, and below 99 % are a warning',
	async (t) => {
		const grade = async (graded: number, correct: number) => {
			const {id, orgKey} = await organization(service);
			const day = service.clock.now();
			await service.services.db('guess_grades').insert({organization_id: id, day, confidence: 'high', graded, correct});
			return orgKey;
		};
		const found = async (): Promise<Finding[]> =>
			(await admin(service).get('/admin/doctor')).body.findings.filter(({check}: Finding) => check === 'matches.high');
		const messages = async () => (await found()).map(({status, message}) => `${status} ${message}`);
		t.deepEqual(await messages(), ['ok no token proved or disproved a guess with high confidence in 30 days']);
		// Too few, and as many as are right enough.
		await grade(199, 100);
		t.deepEqual(await messages(), [
			'ok of guesses with high confidence 199 were graded in 30 days; 200 of an organization are judged',
		]);
		await grade(200, 198);
		t.deepEqual(await messages(), [
			'ok guesses with high confidence are as often right as they say: 200 graded in 30 days',
		]);
		const doubtful = await grade(200, 197);
		const [first, ...others] = await found();
		t.is(first?.status, 'warn');
		t.is(first?.message.split(':')[0], doubtful);
		t.deepEqual(others, []);
	},
);
