import {readFileSync} from 'node:fs';
import {isIP} from 'node:net';
import path from 'node:path';
import {isProxyRange} from '../http/client-ip.ts';
import {placeholderWarning} from '../plans/placeholder-prices.ts';
import {type Plans, readPlans, shippedPlans} from '../plans/plans.ts';
import {databaseUrlFault} from './database-url.ts';
import {type Environment, readEnvironment} from './environment.ts';
import {
	type IdentityProviderConfig,
	type PaymobConfig,
	readIdentityProvider,
	readPaymob,
	readStripe,
	type StripeConfig,
} from './providers.ts';

/** Exit code of a start that configuration ended (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78;

/** Every fault of the environment at once, one sentence each. */
export class ConfigError extends Error {
	override name = 'ConfigError';

	constructor(readonly faults: string[]) {
		super(faults.join('\n'));
	}
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Config = Readonly<{
	host: string;
	port: number;
	dataDir: string;
	databaseUrl: string | null;
	/** Whether a first start makes a demo organization: with the embedded database, and never in production. */
	demo: boolean;
	redisUrl: string | null;
	/** Processes on this machine that share the port. */
	workers: number;
	/** Null: derived from the port that was bound, see `addressesOf`. */
	publicUrl: string | null;
	linkDomain: string | null;
	linkScheme: 'http' | 'https' | null;
	/** Null: generated into `dataDir`. */
	adminToken: string | null;
	trustedProxies: readonly string[];
	idp: IdentityProviderConfig;
	/** Provider organization id of the ops organization; null: no session is ops. */
	opsOrgId: string | null;
	/** Null: the gateway is off. */
	stripe: StripeConfig | null;
	paymob: PaymobConfig | null;
	/** Null: the API host's base URL. */
	billingReturnUrl: string | null;
	plans: Plans;
	dnsServers: readonly string[];
	/** Memory for links that were resolved, in MB. */
	linkCacheMegabytes: number;
	/** Most that clicks may take on the disk while they wait for the database, in MB. */
	journalMegabytes: number;
	/** Most connections that a process serves at once. */
	maxConnections: number;
	clickRetentionDays: number;
	shutdownTimeoutSeconds: number;
	clockOffsetSeconds: number;
	logLevel: LogLevel;
	logFormat: 'json' | 'pretty';
	keySecret: string | null;
	warnings: readonly string[];
}>;

/** Where the service is reached and what its short URLs begin with. */
export type Addresses = Readonly<{publicUrl: string; linkDomain: string; linkScheme: 'http' | 'https'}>;

const isLoopbackHost = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i.test(host);

/** The addresses of a service on `port`: what is configured, else this machine's. */
export const addressesOf = (
	config: Pick<Config, 'publicUrl' | 'linkDomain' | 'linkScheme'>,
	port: number,
): Addresses => {
	const linkDomain = config.linkDomain ?? `localhost:${port}`;
	return {
		publicUrl: config.publicUrl ?? `http://localhost:${port}`,
		linkDomain,
		linkScheme: config.linkScheme ?? (isLoopbackHost(linkDomain) ? 'http' : 'https'),
	};
};

const DEFAULT_CONNECTIONS = 10_000;

/** The key is derived from the secret, so that a short one works; it can be guessed, though. */
const LEAST_KEY_SECRET = 16;

/** An address, with a port where it is not 53: `192.0.2.1:5353`, `[2001:db8::1]:5353`. Node ends itself over port 0. */
const isResolver = (text: string): boolean => {
	const [, inBrackets, bare, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
	const isAddress = inBrackets === undefined ? isIP(bare ?? text) !== 0 : isIP(inBrackets) === 6;
	return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
};

/**
 * The configuration of `env`, checked as a whole.
 * @param isTerminal whether logs go to a terminal, where the default format is `pretty`.
 * @throws ConfigError with one sentence per fault.
 */
export const loadConfig = (env: Environment, {isTerminal = false} = {}): Config => {
	const variables = readEnvironment(env);
	const {faults, text, fault, integer, url, choice, list} = variables;
	const production = text('NODE_ENV') === 'production';
	const warnings: string[] = [];

	const linkDomain = text('LINK_DOMAIN')?.toLowerCase() ?? null;
	if (linkDomain !== null && !/^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?$/.test(linkDomain)) {
		fault('LINK_DOMAIN', 'must be a host name, with a port where it is not 80 or 443, and without scheme or path');
	}

	const adminToken = text('ADMIN_TOKEN');
	if (adminToken !== null && !/^[\x21-\x7e]{32,}$/.test(adminToken)) {
		fault('ADMIN_TOKEN', 'must be at least 32 visible ASCII characters');
	} else if (adminToken === null && production) {
		fault('ADMIN_TOKEN', 'must be set with NODE_ENV=production');
	}

	const databaseUrl = url('DATABASE_URL', ['postgres:', 'postgresql:']);
	const databaseFault = databaseUrl === null ? null : databaseUrlFault(databaseUrl);
	if (databaseFault !== null) {
		fault('DATABASE_URL', databaseFault);
	}

	const clockOffsetSeconds = integer('CLOCK_OFFSET', 0, {min: -3_155_760_000, max: 3_155_760_000});
	if (production && clockOffsetSeconds !== 0) {
		fault('CLOCK_OFFSET', 'is for rehearsals and refused with NODE_ENV=production');
	}

	const keySecret = text('OPLINK_KEY_SECRET');
	if (keySecret !== null && keySecret.length < LEAST_KEY_SECRET) {
		warnings.push(
			`OPLINK_KEY_SECRET is shorter than ${LEAST_KEY_SECRET} characters: who has a copy of the database may guess it`,
		);
	}

	let plans: Plans = {};
	try {
		const file = text('PLANS_FILE');
		plans = file === null ? shippedPlans() : readPlans(readFileSync(file, 'utf8'));
	} catch (error) {
		fault('PLANS_FILE', `could not be used: ${(error as Error).message}`);
	}

	const stripe = readStripe(variables);
	const placeholders = stripe === null ? null : placeholderWarning(plans);
	if (placeholders !== null) {
		warnings.push(placeholders);
	}

	const config: Config = {
		host: text('HOST') ?? '127.0.0.1',
		port: integer('PORT', 3000, {min: 0, max: 65_535}),
		dataDir: path.resolve(text('DATA_DIR') ?? 'data'),
		databaseUrl,
		demo: text('DATABASE_URL') === null && !production,
		redisUrl: url('REDIS_URL', ['redis:', 'rediss:']),
		workers: integer('WORKERS', 1, {min: 1, max: 256}),
		publicUrl: url('PUBLIC_URL', ['http:', 'https:']),
		linkDomain,
		linkScheme: choice('LINK_SCHEME', ['http', 'https']),
		adminToken,
		trustedProxies: list('TRUSTED_PROXIES', isProxyRange, 'comma-separated CIDRs'),
		idp: readIdentityProvider(variables, warnings),
		opsOrgId: text('OPS_ORG_ID'),
		stripe,
		paymob: readPaymob(variables),
		billingReturnUrl: url('BILLING_RETURN_URL', ['http:', 'https:']),
		plans,
		dnsServers: list('DNS_SERVERS', isResolver, 'comma-separated addresses of resolvers'),
		linkCacheMegabytes: integer('LINK_CACHE_MB', 64, {min: 0, max: 65_536}),
		journalMegabytes: integer('JOURNAL_MAX_MB', 1024, {min: 0, max: 1_048_576}),
		maxConnections: integer('MAX_CONNECTIONS', DEFAULT_CONNECTIONS, {min: 1, max: 1_000_000}),
		clickRetentionDays: integer('CLICK_RETENTION_DAYS', 400, {min: 1, max: 36_500}),
		shutdownTimeoutSeconds: integer('SHUTDOWN_TIMEOUT', 10, {min: 0, max: 3600}),
		clockOffsetSeconds,
		logLevel: choice('LOG_LEVEL', LOG_LEVELS) ?? 'info',
		logFormat: choice('LOG_FORMAT', ['json', 'pretty']) ?? (isTerminal ? 'pretty' : 'json'),
		keySecret,
		warnings,
	};
	if (faults.length > 0) {
		throw new ConfigError(faults);
	}

	return Object.freeze(config);
};
