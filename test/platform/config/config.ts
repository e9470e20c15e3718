import {execFileSync} from 'node:child_process';
import {Resolver} from 'node:dns';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {envExample} from '../../../.build/env-example.ts';
import {addressesOf, ConfigError, loadConfig} from '../../../src/platform/config/config.ts';
import {appLinkLimit, readPlans, shippedPlans} from '../../../src/platform/config/plans.ts';
import {configTable, describeConfig} from '../../../src/platform/config/variables.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';

test('DATA_DIR below /proc or /sys is refused', (t) => {
	for (const dataDir of ['/proc/1', '/proc', '/tmp/../sys/data']) {
		t.throws(() => loadConfig({DATA_DIR: dataDir}), {instanceOf: ConfigError, message: /DATA_DIR must not be below/});
	}

	t.is(loadConfig({DATA_DIR: '/process'}).dataDir, '/process');
});

test('with nothing set the defaults are those of the specification', (t) => {
	const config = loadConfig({});
	t.is(config.host, '127.0.0.1');
	t.is(config.port, 3000);
	t.is(config.dataDir, path.resolve('data'));
	t.is(config.clickRetentionDays, 400);
	t.is(config.shutdownTimeoutSeconds, 10);
	t.is(config.clockOffsetSeconds, 0);
	t.is(config.logLevel, 'info');
	t.is(config.logFormat, 'json');
	t.is(loadConfig({}, {isTerminal: true}).logFormat, 'pretty');
	t.deepEqual(addressesOf(config, 3000), {
		publicUrl: 'http://localhost:3000',
		linkDomain: 'localhost:3000',
		linkScheme: 'http',
	});
	t.deepEqual(Object.keys(config.plans), ['STARTER', 'SOLO', 'GROWTH', 'SCALE', 'ENTERPRISE']);
});

for (const servers of [
	'127.0.0.1:99999',
	'127.0.0.1:0',
	'127.0.0.1, 300.1.2.3',
	'[::1]:0',
	'[127.0.0.1]:53',
	'::1:53:x',
]) {
	test(`DNS_SERVERS=${servers} is a fault`, (t) => {
		const error = t.throws(() => loadConfig({DNS_SERVERS: servers}), {instanceOf: ConfigError});
		t.regex(error?.message ?? '', /^DNS_SERVERS must be comma-separated addresses of resolvers; wrong: /);
	});
}

test('DNS_SERVERS takes addresses of both kinds, with ports', (t) => {
	const servers = ['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:5353'];
	t.deepEqual(loadConfig({DNS_SERVERS: servers.join(', ')}).dnsServers, servers);
	// Every accepted value is usable.
	new Resolver().setServers(servers);
});

for (const [query, expected] of [
	['ssl=require', /ssl=require, which is not supported: write sslmode=require$/],
	['ssl=false', /ssl=false, which is not supported: write sslmode=disable or sslmode=verify-full$/],
	['sslmode=requird', /sslmode=requird: it must be one of disable, /],
	['sslrootcert=/nowhere/ca.pem', /sslrootcert that cannot be read: ENOENT/],
	['sslmode=verify-full&sslrootcert=package.json', /sslrootcert that cannot be read: /],
	['port=none', /a number from 1 to 65535$/],
] as const) {
	test(`a DATABASE_URL with ${query} is a fault that names it`, (t) => {
		const error = t.throws(() => loadConfig({DATABASE_URL: `postgres://me:secret@db.example/app?${query}`}));
		t.regex(error?.message ?? '', expected);
		t.regex(error?.message ?? '', /^DATABASE_URL has /);
		t.notRegex(error?.message ?? '', /secret/);
	});
}

for (const url of [
	'redis://u:p%40ss@cache:6379/2',
	'rediss://cache',
	'redis://one:7000,two:7001,[::1]:7002',
	'redis-sentinel://:secret@one,two:26380/main/1?sentinelPassword=other',
	'rediss-sentinel://one:26379/main',
]) {
	test(`REDIS_URL may be ${url}`, (t) => {
		t.is(loadConfig({REDIS_URL: url}).redisUrl, url);
	});
}

for (const [url, fault] of [
	['redis-sentinel://one,two', /must name what the Sentinels watch/],
	['redis://one:7000,two:7001/3', /a Cluster has only the database 0/],
	['redis://one:70000', /must be redis:/],
	['redis://:100%@one', /has a % that encodes no character/],
	['redis://one/x', /is not the number of a database/],
] as const) {
	test(`REDIS_URL may not be ${url}`, (t) => {
		t.regex(t.throws(() => loadConfig({REDIS_URL: url}))?.message ?? '', fault);
	});
}

test('DATABASE_LISTEN_URL needs DATABASE_URL', (t) => {
	const error = t.throws(() => loadConfig({DATABASE_LISTEN_URL: 'postgres://me@db.example/app'}));
	t.regex(error?.message ?? '', /^DATABASE_LISTEN_URL is the same database as DATABASE_URL, which must be set/);
});

test('a DATABASE_URL with a % that stands for nothing is a fault', (t) => {
	const error = t.throws(() => loadConfig({DATABASE_URL: 'postgres://me:100%x@db.example/app'}));
	t.is(error?.message, 'DATABASE_URL has a % that encodes no character: write it as %25');
});

test('all faults are reported together', (t) => {
	const error = t.throws(
		() =>
			loadConfig({
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
			}),
		{instanceOf: ConfigError},
	);
	t.deepEqual(error?.faults.map((fault) => fault.split(' ')[0]).toSorted(), [
		'ADMIN_TOKEN',
		'CLICK_RETENTION_DAYS',
		'DATABASE_URL',
		'DNS_SERVERS',
		'LINK_DOMAIN',
		'LINK_SCHEME',
		'LOG_FORMAT',
		'LOG_LEVEL',
		'PLANS_FILE',
		'PORT',
		'PUBLIC_URL',
		'REDIS_URL',
		'RELAY_RANGES_FILE',
		'TRUSTED_PROXIES',
	]);
});

test('an incomplete address is invalid as proxy and as resolver', (t) => {
	const error = t.throws(() => loadConfig({TRUSTED_PROXIES: '10.0.0.0/8, 1.2.3', DNS_SERVERS: '1.2.3'}), {
		instanceOf: ConfigError,
	});
	t.deepEqual(error?.faults, [
		'TRUSTED_PROXIES must be comma-separated CIDRs; wrong: 1.2.3',
		'DNS_SERVERS must be comma-separated addresses of resolvers; wrong: 1.2.3',
	]);
});

test('production needs an admin token and refuses a moved clock', (t) => {
	const error = t.throws(() => loadConfig({NODE_ENV: 'production', CLOCK_OFFSET: '60'}), {instanceOf: ConfigError});
	t.deepEqual(
		error?.faults.map((fault) => fault.split(' ')[0]),
		['ADMIN_TOKEN', 'CLOCK_OFFSET'],
	);
	t.is(loadConfig({NODE_ENV: 'production', ADMIN_TOKEN: 'a'.repeat(32)}).adminToken, 'a'.repeat(32));
});

test('a malformed webhook secret warns and does not end the start', (t) => {
	t.is(loadConfig({IDP_WEBHOOK_SECRET: 'whsec_!!'}).warnings.length, 1);
	t.is(loadConfig({IDP_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'}).warnings.length, 0);
});

test('a short secret for keys warns and does not end the start', (t) => {
	const {warnings, keySecret} = loadConfig({OPLINK_KEY_SECRET: '123456789012345'});
	t.is(keySecret, '123456789012345');
	t.is(warnings.length, 1);
	t.regex(warnings[0] ?? '', /^OPLINK_KEY_SECRET is shorter than 16 characters/);
	t.deepEqual(loadConfig({OPLINK_KEY_SECRET: '1234567890123456'}).warnings, []);
});

test('a secret is never shown', (t) => {
	const shown = JSON.stringify(describeConfig({ADMIN_TOKEN: 's3cret-s3cret-s3cret-s3cret-s3cret', PORT: '80'}));
	t.false(shown.includes('s3cret'));
	t.true(shown.includes('"value":"80"'));
});

test('.env.example equals the output of npm run docs:env', (t) => {
	t.is(readFileSync(path.join(packageRoot, '.env.example'), 'utf8'), envExample());
});

test('each line of .env.example, uncommented, sets the default', (t) => {
	const lines = envExample().split('\n');
	const pairs = lines.flatMap((line) => {
		const [, name, value] = /^# ([A-Z][A-Z_]+)=(.*)$/.exec(line) ?? [];
		return name === undefined ? [] : [[name, value]];
	});
	t.deepEqual(
		pairs.map(([name]) => name),
		configTable.map(({name}) => name),
	);
	t.deepEqual(loadConfig(Object.fromEntries(pairs)), loadConfig({}));
});

test('a gateway’s variable is reported as missing or invalid, but not both', (t) => {
	const error = t.throws(() => loadConfig({PAYMOB_SECRET_KEY: 'secret', PAYMOB_CARD_INTEGRATION_ID: 'card'}), {
		instanceOf: ConfigError,
	});
	t.deepEqual(error?.faults, [
		'PAYMOB_CARD_INTEGRATION_ID must be the number of an integration',
		'PAYMOB_PUBLIC_KEY must be set with PAYMOB_SECRET_KEY',
	]);
	t.is(loadConfig({}).paymob, null);
});

test('the environment is read in config.ts and in the CLI only', (t) => {
	const found = execFileSync('grep', ['-rlE', String.raw`process\.env`, path.join(packageRoot, 'src')], {
		encoding: 'utf8',
	})
		.trim()
		.split('\n')
		.map((file) => path.relative(path.join(packageRoot, 'src'), file))
		.filter((file) => !file.startsWith('cli/'));
	t.deepEqual(found, []);
});

test('the shipped plans are a valid plans file', (t) => {
	t.deepEqual(readPlans(readFileSync(path.join(packageRoot, 'config', 'plans.json'), 'utf8')), shippedPlans());
});

test('a plans file is refused with every fault of it', (t) => {
	const quotas = {links: 10, clicks: null, members: 1, domains: 0};
	const features = {api_access: true, custom_domains: false};
	const plan = {quotas, features, prices: {USD: 900, EGP: 0}};
	t.deepEqual(readPlans(JSON.stringify({SOLO: plan})), {SOLO: {...plan, stripePrice: null, appLinkShare: 0.5}});
	const limits = {sdkDevices: {max: 600, seconds: 60}, sdkLinks: {max: 1, seconds: 1}};
	t.deepEqual(readPlans(JSON.stringify({SOLO: {...plan, limits}})), {
		SOLO: {...plan, stripePrice: null, appLinkShare: 0.5, limits},
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
	for (const [text, ...said] of [
		['{'],
		['[]', '"value" must be of type object'],
		['{}', '"value" must have at least 1 key'],
		[JSON.stringify({solo: plan}), '"solo" is not allowed'],
		[JSON.stringify({SOLO: faulty}), ...faults],
	] as const) {
		const {message} = t.throws(() => readPlans(text));
		for (const words of said) {
			t.true(message.includes(words), `${words} in ${message}`);
		}
	}
});

test('the share of apps in the links of a plan is from 0 to 1, and a half if the file has none', (t) => {
	const {SOLO} = shippedPlans();
	const plan = (appLinkShare: unknown) => JSON.stringify({SOLO: {...SOLO, appLinkShare}});
	t.is(readPlans(plan(undefined))['SOLO']?.appLinkShare, 0.5);
	for (const [share, links, limit] of [
		[0, 10, 0],
		[1, 10, 10],
		[0.5, 5, 2],
		[0.29, 100, 29],
		[0.999_999_9, 1, 0],
		[0.1, 9, 0],
		[0.5, null, null],
	] as const) {
		const {SOLO: read} = readPlans(
			JSON.stringify({SOLO: {...SOLO, quotas: {...SOLO?.quotas, links}, appLinkShare: share}}),
		);
		t.is(read && appLinkLimit(read), limit, `${share} of ${links}`);
	}

	for (const [share, words] of [
		[-0.1, 'SOLO.appLinkShare" must be greater than or equal to 0'],
		[1.01, 'SOLO.appLinkShare" must be less than or equal to 1'],
		['0.5', 'SOLO.appLinkShare" must be a number'],
		[null, 'SOLO.appLinkShare" must be a number'],
	] as const) {
		const {message} = t.throws(() => readPlans(plan(share)));
		t.true(message.includes(words), `${words} in ${message}`);
	}
});
