import {execFileSync} from 'node:child_process';
import {Resolver} from 'node:dns';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {envExample} from '../../../scripts/env-example.ts';
import {addressesOf, ConfigError, loadConfig} from '../../../src/platform/config/config.ts';
import {describeConfig} from '../../../src/platform/config/describe-config.ts';
import {appLinkLimit, readPlans, shippedPlans} from '../../../src/platform/config/plans.ts';
import {readSecrets} from '../../../src/platform/config/secrets.ts';
import {configTable, secretNames} from '../../../src/platform/config/variables.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';

/** What is wrong with such an environment. */
const faultsOf = (t: ExecutionContext, env: Record<string, string>): string[] =>
	t.throws(() => loadConfig(env), {instanceOf: ConfigError}).faults;

test('DATA_DIR below /proc or /sys is refused', (t) => {
	for (const dataDir of ['/proc/1', '/proc', '/tmp/../sys/data']) {
		t.regex(faultsOf(t, {DATA_DIR: dataDir}).join(), /^DATA_DIR must not be below/);
	}

	t.is(loadConfig({DATA_DIR: '/process'}).dataDir, '/process');
});

test('a control character within what becomes a URL, a header or a line is refused', (t) => {
	for (const [name, value] of [
		['PUBLIC_URL', 'https://api.exa\tmple.com'],
		['IDP_API_URL', 'https://idp.example.com/\x1b[2Ja'],
		['IDP_API_KEY', 'sk_test_a\nX-Header: b'],
		['STRIPE_SECRET_KEY', 'sk_test_a\x9bb'],
	] as const) {
		t.deepEqual(faultsOf(t, {[name]: value}), [`${name} must have no control characters`]);
	}
});

test('with nothing set the defaults are those of the specification', (t) => {
	const config = loadConfig({});
	t.like(config, {
		host: '127.0.0.1',
		port: 3000,
		dataDir: path.resolve('data'),
		clickRetentionDays: 400,
		shutdownTimeoutSeconds: 10,
		clockOffsetSeconds: 0,
		logLevel: 'info',
		logFormat: 'json',
		paymob: null,
	});
	t.is(loadConfig({}, {isTerminal: true}).logFormat, 'pretty');
	t.deepEqual(addressesOf(config, 3000), {
		publicUrl: 'http://localhost:3000',
		linkDomain: 'localhost:3000',
		aliases: [],
		linkScheme: 'http',
	});
	t.deepEqual(Object.keys(config.plans), ['STARTER', 'SOLO', 'GROWTH', 'SCALE', 'ENTERPRISE']);
});

const WRONG_RESOLVER = /^DNS_SERVERS must be comma-separated addresses of resolvers; wrong: /;
const databaseUrl = (query: string) => `postgres://me:secret@db.example/app${query}`;

for (const [name, value, fault] of [
	...['127.0.0.1:99999', '127.0.0.1:0', '127.0.0.1, 300.1.2.3', '[::1]:0', '[127.0.0.1]:53', '::1:53:x', '1.2.3'].map(
		(servers) => ['DNS_SERVERS', servers, WRONG_RESOLVER] as const,
	),
	['TRUSTED_PROXIES', '10.0.0.0/8, 1.2.3', /must be comma-separated CIDRs; wrong: 1\.2\.3$/],
	['DATABASE_URL', databaseUrl('?ssl=require'), /ssl=require, which is not supported: write sslmode=require$/],
	['DATABASE_URL', databaseUrl('?ssl=false'), /ssl=false, .*: write sslmode=disable or sslmode=verify-full$/],
	['DATABASE_URL', databaseUrl('?sslmode=requird'), /sslmode=requird: it must be one of disable, /],
	['DATABASE_URL', databaseUrl('?sslrootcert=/nowhere/ca.pem'), /sslrootcert that cannot be read: ENOENT/],
	['DATABASE_URL', databaseUrl('?sslmode=verify-full&sslrootcert=package.json'), /sslrootcert that cannot be read: /],
	['DATABASE_URL', databaseUrl('?port=none'), /a number from 1 to 65535$/],
	['DATABASE_URL', 'postgres://me:100%x@db.example/app', /has a % that encodes no character: write it as %25$/],
	['DATABASE_LISTEN_URL', databaseUrl(''), /is the same database as DATABASE_URL, which must be set/],
	['REDIS_URL', 'redis-sentinel://one,two', /must name what the Sentinels watch/],
	['REDIS_URL', 'redis://one:7000,two:7001/3', /a Cluster has only the database 0/],
	['REDIS_URL', 'redis://one:70000', /must be redis:/],
	['REDIS_URL', 'redis://:100%@one', /has a % that encodes no character/],
	['REDIS_URL', 'redis://one/x', /is not the number of a database/],
] as const) {
	test(`${name}=${value} is a fault that names it, and no secret`, (t) => {
		const [message = '', ...others] = faultsOf(t, {[name]: value});
		t.deepEqual(others, []);
		t.regex(message, fault);
		t.regex(message, new RegExp(`^${name} `));
		t.notRegex(message, /secret/);
	});
}

test('DNS_SERVERS takes addresses of both kinds, with ports', (t) => {
	const servers = ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:5353'];
	t.deepEqual(loadConfig({DNS_SERVERS: servers.join(', ')}).dnsServers, servers);
	// Every accepted value is usable.
	new Resolver().setServers(servers);
});

test('REDIS_URL may be a server, with TLS, a Cluster or Sentinels', (t) => {
	for (const url of [
		'redis://u:p%40ss@cache:6379/2',
		'rediss://cache',
		'redis://one:7000,two:7001,[::1]:7002',
		'redis-sentinel://:secret@one,two:26380/main/1?sentinelPassword=other',
		'rediss-sentinel://one:26379/main',
	]) {
		t.is(loadConfig({REDIS_URL: url}).redisUrl, url);
	}
});

test('all faults are reported together', (t) => {
	const env = {
		HOST: 'http://localhost',
		PORT: '70000',
		DATABASE_URL: 'mysql://x',
		REDIS_URL: 'http://x',
		LINK_DOMAIN: 'https://x',
		LINK_SCHEME: 'ftp',
		ADMIN_TOKEN: 'short',
		TRUSTED_PROXIES: '10.0.0.0/8, nonsense',
		PLANS_FILE: '/nowhere.json',
		RELAY_RANGES_FILE: '/nowhere.csv',
		CLICK_RETENTION_DAYS: '0',
		LOG_LEVEL: 'loud',
		LOG_FORMAT: 'xml',
		DNS_SERVERS: 'dns.example',
		PUBLIC_URL: 'go.example.com',
	};
	const named = faultsOf(t, env).map((fault) => fault.split(' ')[0]);
	t.deepEqual(named.toSorted(), Object.keys(env).toSorted());
});

test('HOST is an address or a name', (t) => {
	for (const host of ['0.0.0.0', '::', '::1', 'fe80::1%eth0', 'localhost', 'my_host-1', 'a.example.']) {
		t.is(loadConfig({HOST: host}).host, host);
	}

	for (const host of [
		'[::]',
		'localhost:3000',
		'http://x',
		'*',
		'a b',
		'300.1.1.1',
		'1.2.3',
		'1.2.3.4/8',
		'::g',
		'a..b',
		'/tmp/x',
	]) {
		t.regex(faultsOf(t, {HOST: host}).join(), /^HOST must be an address or a host name of this machine/, host);
	}
});

test('production needs an admin token and refuses a moved clock', (t) => {
	const faults = faultsOf(t, {NODE_ENV: 'production', CLOCK_OFFSET: '60'});
	const found = faults.map((fault) => fault.split(' ')[0]);
	t.deepEqual(found, ['ADMIN_TOKEN', 'CLOCK_OFFSET']);
	t.is(loadConfig({NODE_ENV: 'production', ADMIN_TOKEN: 'a'.repeat(32)}).adminToken, 'a'.repeat(32));
});

test('a malformed webhook secret and a short one for keys warn and do not end the start', (t) => {
	t.is(loadConfig({IDP_WEBHOOK_SECRET: 'whsec_!!'}).warnings.length, 1);
	t.is(loadConfig({IDP_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'}).warnings.length, 0);
	const {warnings, keySecret} = loadConfig({OPLINK_KEY_SECRET: '123456789012345'});
	t.is(keySecret, '123456789012345');
	t.is(warnings.length, 1);
	t.regex(warnings[0] ?? '', /^OPLINK_KEY_SECRET is shorter than 16 characters/);
	t.deepEqual(loadConfig({OPLINK_KEY_SECRET: '1234567890123456'}).warnings, []);
});

test('a secret is never shown', (t) => {
	const env = {ADMIN_TOKEN: 's3cret-s3cret-s3cret-s3cret-s3cret', PORT: '80'};
	const shown = JSON.stringify(describeConfig(env, readSecrets(env, secretNames)));
	t.false(shown.includes('s3cret'));
	t.true(shown.includes('"value":"80"'));
});

test('.env.example equals the output of npm run docs:env', (t) => {
	t.is(readFileSync(path.join(packageRoot, '.env.example'), 'utf8'), envExample());
});

test('each line of .env.example, uncommented, sets the default', (t) => {
	const pairs = [...envExample().matchAll(/^# ([A-Z][A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
	t.deepEqual(
		pairs.map(([name]) => name),
		configTable.map(({name}) => name),
	);
	t.deepEqual(loadConfig(Object.fromEntries(pairs)), loadConfig({}));
});

test('a gateway’s variable is reported as missing or invalid, but not both', (t) => {
	t.deepEqual(faultsOf(t, {PAYMOB_SECRET_KEY: 'secret', PAYMOB_CARD_INTEGRATION_ID: 'card'}), [
		'PAYMOB_CARD_INTEGRATION_ID must be the number of an integration',
		'PAYMOB_PUBLIC_KEY must be set with PAYMOB_SECRET_KEY',
	]);
});

test('the environment is read in config.ts and in the CLI only', (t) => {
	const found = execFileSync('grep', ['-rlF', 'process.env', '.'], {cwd: path.join(packageRoot, 'src')});
	t.deepEqual(
		`${found}`.split('\n').filter((file) => file !== '' && !file.startsWith('./cli/')),
		[],
	);
});

test('the shipped plans are a valid plans file', (t) => {
	t.deepEqual(readPlans(readFileSync(path.join(packageRoot, 'config', 'plans.json'), 'utf8')), shippedPlans());
});

test('a plans file is read with the defaults of a plan, and refused with every fault of it', (t) => {
	const quotas = {links: 10, clicks: null, members: 1, domains: 0};
	const features = {api_access: true, custom_domains: false};
	const plan = {quotas, features, prices: {USD: 900, EGP: 0}};
	const limits = {sdkDevices: {max: 600, seconds: 60}, sdkLinks: {max: 1, seconds: 1}};
	t.deepEqual(readPlans(JSON.stringify({SOLO: plan, SCALE: {...plan, limits}})), {
		SOLO: {...plan, stripePrice: null, appLinkShare: 0.5},
		SCALE: {...plan, stripePrice: null, appLinkShare: 0.5, limits},
	});
	const faulty = {
		limits: {match: {max: 1, seconds: 1}, sdkEvents: {max: 0, seconds: 60}, linkReads: {max: 5}},
		quotas: {...quotas, links: -1, seats: 3},
		features: {api_access: 'yes'},
		prices: null,
		stripePrice: 7,
	};
	const faults = [
		'links" must be greater than or equal to 0',
		'seats" is not allowed',
		'api_access" must be a boolean',
		'custom_domains" is required',
		'prices" must be of type object',
		'stripePrice" must be a string',
		'limits.match" is not a limit of a plan; those are linkReads, linkWrites, sdkDevices, sdkEvents, sdkLinks, sdkDeviceLinks',
		'limits.sdkEvents.max" must be greater than or equal to 1',
		'limits.linkReads.seconds" is required',
	];
	for (const [file, ...said] of [
		['{'],
		[[], '"value" must be of type object'],
		[{}, '"value" must have at least 1 key'],
		[{solo: plan}, '"solo" is not allowed'],
		[{SOLO: faulty}, ...faults],
		[{SOLO: {...plan, appLinkShare: -0.1}}, 'SOLO.appLinkShare" must be greater than or equal to 0'],
		[{SOLO: {...plan, appLinkShare: 1.01}}, 'SOLO.appLinkShare" must be less than or equal to 1'],
		[{SOLO: {...plan, appLinkShare: '0.5'}}, 'SOLO.appLinkShare" must be a number'],
		[{SOLO: {...plan, appLinkShare: null}}, 'SOLO.appLinkShare" must be a number'],
	] as Array<[unknown, ...string[]]>) {
		const {message} = t.throws(() => readPlans(typeof file === 'string' ? file : JSON.stringify(file)));
		const found = said.filter((words) => !message.includes(words));
		t.deepEqual(found, [], message);
	}
});

test('the share of apps in the links of a plan is rounded down', (t) => {
	const {SOLO = t.fail()} = shippedPlans();
	for (const [appLinkShare, links, limit] of [
		[0, 10, 0],
		[1, 10, 10],
		[0.5, 5, 2],
		[0.29, 100, 29],
		[0.999_999_9, 1, 0],
		[0.1, 9, 0],
		[0.5, null, null],
	] as const) {
		t.is(appLinkLimit({...SOLO, quotas: {...SOLO.quotas, links}, appLinkShare}), limit, `${appLinkShare} of ${links}`);
	}
});
