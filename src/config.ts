import {readFileSync} from 'node:fs';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import {packageRoot} from './package-root.ts';
import {type Plans, readPlans} from './plans/plans.ts';

/** A line of the variables' table: what `oplink config` and `.env.example` list (decisions 1). */
type Variable = {name: string; fallback: string; meaning: string; secret?: boolean};

/** Exit code of a start that configuration ended (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78;

/** Every fault of the environment at once, one sentence each. */
export class ConfigError extends Error {
	override name = 'ConfigError';

	constructor(readonly faults: string[]) {
		super(faults.join('\n'));
	}
}

/** The variables, in the order of decisions 1. */
export const configTable: readonly Variable[] = [
	{name: 'HOST', fallback: '127.0.0.1', meaning: 'address to listen on'},
	{name: 'PORT', fallback: '3000', meaning: 'port to listen on; 0 picks a free one'},
	{name: 'DATA_DIR', fallback: './data', meaning: 'embedded database, generated admin token'},
	{
		name: 'DATABASE_URL',
		fallback: '',
		meaning: 'external PostgreSQL 14 or later; unset: embedded in DATA_DIR',
		secret: true,
	},
	{name: 'REDIS_URL', fallback: '', meaning: 'Redis shared between processes; unset: in process', secret: true},
	{name: 'WORKERS', fallback: '1', meaning: 'processes on this machine sharing the port'},
	{name: 'PUBLIC_URL', fallback: 'http://localhost:PORT', meaning: 'base URL of the API host'},
	{
		name: 'LINK_DOMAIN',
		fallback: 'localhost:PORT',
		meaning: 'default link domain, with the port where it is not 80 or 443',
	},
	{name: 'LINK_SCHEME', fallback: 'https, or http on a loopback name', meaning: 'scheme of short URLs'},
	{
		name: 'ADMIN_TOKEN',
		fallback: 'generated into DATA_DIR/admin-token',
		meaning: 'admin bearer secret, at least 32 characters',
		secret: true,
	},
	{name: 'TRUSTED_PROXIES', fallback: '', meaning: 'comma-separated CIDRs whose X-Forwarded-* headers are believed'},
	{name: 'IDP_ISSUER', fallback: '', meaning: 'issuer of session tokens; unset: every session is 401'},
	{name: 'IDP_JWKS_URL', fallback: '', meaning: 'key set that session tokens are verified with'},
	{name: 'IDP_AUDIENCE', fallback: '', meaning: 'expected aud of session tokens; unset: not checked'},
	{
		name: 'IDP_AUTHORIZED_PARTIES',
		fallback: '',
		meaning: 'comma-separated allowed azp of session tokens; unset: not checked',
	},
	{name: 'IDP_API_URL', fallback: 'https://api.clerk.com/v1', meaning: 'backend API of the identity provider'},
	{name: 'IDP_API_KEY', fallback: '', meaning: "secret of the identity provider's backend API", secret: true},
	{name: 'IDP_WEBHOOK_SECRET', fallback: '', meaning: 'whsec_ and base64; unset: every delivery is 400', secret: true},
	{
		name: 'OPS_ORG_ID',
		fallback: '',
		meaning: 'provider organization id of the ops organization; unset: no session is ops',
	},
	{name: 'STRIPE_SECRET_KEY', fallback: '', meaning: 'gateway A; unset: off', secret: true},
	{name: 'STRIPE_WEBHOOK_SECRET', fallback: '', meaning: 'signing secret of gateway A', secret: true},
	{name: 'STRIPE_API_URL', fallback: '', meaning: 'points gateway A elsewhere'},
	{name: 'PAYMOB_SECRET_KEY', fallback: '', meaning: 'gateway B; unset: off', secret: true},
	{name: 'PAYMOB_PUBLIC_KEY', fallback: '', meaning: 'public key of gateway B'},
	{name: 'PAYMOB_API_KEY', fallback: '', meaning: 'API key of gateway B', secret: true},
	{name: 'PAYMOB_HMAC_SECRET', fallback: '', meaning: 'HMAC secret of gateway B', secret: true},
	{name: 'PAYMOB_CARD_INTEGRATION_ID', fallback: '', meaning: 'card integration of gateway B'},
	{
		name: 'PAYMOB_MOTO_INTEGRATION_ID',
		fallback: '',
		meaning: 'integration for saved cards; unset: saved cards are not charged',
	},
	{name: 'PAYMOB_API_URL', fallback: '', meaning: 'points gateway B elsewhere'},
	{name: 'PAYMOB_CHECKOUT_URL', fallback: '', meaning: 'hosted checkout of gateway B'},
	{name: 'BILLING_RETURN_URL', fallback: 'PUBLIC_URL', meaning: 'where a hosted checkout returns to'},
	{name: 'PLANS_FILE', fallback: 'config/plans.json', meaning: 'plans: quotas, features, prices'},
	{name: 'DNS_SERVERS', fallback: "the system's", meaning: 'comma-separated resolvers for domain verification'},
	{name: 'CLICK_RETENTION_DAYS', fallback: '400', meaning: 'raw clicks older than this are dropped by partition'},
	{name: 'SHUTDOWN_TIMEOUT', fallback: '10', meaning: 'seconds that a stop may take to drain'},
	{
		name: 'CLOCK_OFFSET',
		fallback: '0',
		meaning: 'seconds that every now of the service is moved; refused in production',
	},
	{name: 'LOG_LEVEL', fallback: 'info', meaning: 'fatal, error, warn, info, debug, trace or silent'},
	{name: 'LOG_FORMAT', fallback: 'json, or pretty on a terminal', meaning: 'json or pretty'},
	{
		name: 'OPLINK_KEY_SECRET',
		fallback: '',
		meaning: 'when set, raw API keys are encrypted at rest (AES-256-GCM)',
		secret: true,
	},
];

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Config = Readonly<{
	host: string;
	port: number;
	dataDir: string;
	databaseUrl: string | null;
	redisUrl: string | null;
	/** Null: derived from the port that was bound, see `addressesOf`. */
	publicUrl: string | null;
	linkDomain: string | null;
	linkScheme: 'http' | 'https' | null;
	/** Null: generated into `dataDir`. */
	adminToken: string | null;
	trustedProxies: readonly string[];
	plans: Plans;
	dnsServers: readonly string[];
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

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one variable after the other and keeps the faults, so that all are told at once. */
const reader = (env: Environment) => {
	const faults: string[] = [];
	const text = (name: string): string | null => env[name]?.trim() || null;
	const fault = (name: string, expected: string): null => {
		faults.push(`${name} ${expected}`);
		return null;
	};
	const integer = (name: string, fallback: number, {min, max}: {min: number; max: number}): number => {
		const value = text(name);
		if (value === null) {
			return fallback;
		}

		const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
		return number >= min && number <= max
			? number
			: (fault(name, `must be an integer from ${min} to ${max}`) ?? fallback);
	};
	const url = (name: string, protocols: string[]): string | null => {
		const value = text(name);
		if (value === null) {
			return null;
		}

		const parsed = URL.canParse(value) ? new URL(value) : null;
		return parsed && protocols.includes(parsed.protocol)
			? value.replace(/\/+$/, '')
			: fault(name, `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
	};
	const choice = <T extends string>(name: string, values: readonly T[]): T | null => {
		const value = text(name);
		return (
			values.find((one) => one === value) ??
			(value === null ? null : fault(name, `must be one of ${values.join(', ')}`))
		);
	};
	const list = (name: string, isValid: (item: string) => boolean, expected: string): string[] => {
		const items = (text(name) ?? '')
			.split(',')
			.map((item) => item.trim())
			.filter((item) => item !== '');
		const bad = items.filter((item) => !isValid(item));
		if (bad.length > 0) {
			fault(name, `must be ${expected}; wrong: ${bad.join(', ')}`);
		}

		return items;
	};
	return {faults, text, fault, integer, url, choice, list};
};

const isNetwork = (text: string): boolean => ipaddr.isValidCIDR(text) || ipaddr.isValid(text);
const isResolver = (text: string): boolean =>
	/^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\])(?::\d{1,5})?$/i.test(text) || ipaddr.isValid(text);

/**
 * The configuration of `env`, checked as a whole.
 * @param isTerminal whether logs go to a terminal, where the default format is `pretty`.
 * @throws ConfigError with one sentence per fault.
 */
export const loadConfig = (env: Environment, {isTerminal = false} = {}): Config => {
	const {faults, text, fault, integer, url, choice, list} = reader(env);
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

	const clockOffsetSeconds = integer('CLOCK_OFFSET', 0, {min: -3_155_760_000, max: 3_155_760_000});
	if (production && clockOffsetSeconds !== 0) {
		fault('CLOCK_OFFSET', 'is for rehearsals and refused with NODE_ENV=production');
	}

	if (integer('WORKERS', 1, {min: 1, max: 256}) > 1) {
		fault('WORKERS', 'above 1 is not supported by this version');
	}

	const webhookSecret = text('IDP_WEBHOOK_SECRET');
	if (webhookSecret !== null && !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(webhookSecret)) {
		warnings.push('IDP_WEBHOOK_SECRET is not whsec_ followed by base64: every delivery will be refused with 400');
	}

	let plans: Plans = {};
	try {
		plans = readPlans(readFileSync(text('PLANS_FILE') ?? path.join(packageRoot, 'config', 'plans.json'), 'utf8'));
	} catch (error) {
		fault('PLANS_FILE', `could not be used: ${(error as Error).message}`);
	}

	const config: Config = {
		host: text('HOST') ?? '127.0.0.1',
		port: integer('PORT', 3000, {min: 0, max: 65_535}),
		dataDir: path.resolve(text('DATA_DIR') ?? 'data'),
		databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:']),
		redisUrl: url('REDIS_URL', ['redis:', 'rediss:']),
		publicUrl: url('PUBLIC_URL', ['http:', 'https:']),
		linkDomain,
		linkScheme: choice('LINK_SCHEME', ['http', 'https']),
		adminToken,
		trustedProxies: list('TRUSTED_PROXIES', isNetwork, 'comma-separated CIDRs'),
		plans,
		dnsServers: list('DNS_SERVERS', isResolver, 'comma-separated addresses of resolvers'),
		clickRetentionDays: integer('CLICK_RETENTION_DAYS', 400, {min: 1, max: 36_500}),
		shutdownTimeoutSeconds: integer('SHUTDOWN_TIMEOUT', 10, {min: 0, max: 3600}),
		clockOffsetSeconds,
		logLevel: choice('LOG_LEVEL', LOG_LEVELS) ?? 'info',
		logFormat: choice('LOG_FORMAT', ['json', 'pretty']) ?? (isTerminal ? 'pretty' : 'json'),
		keySecret: text('OPLINK_KEY_SECRET'),
		warnings,
	};
	if (faults.length > 0) {
		throw new ConfigError(faults);
	}

	return Object.freeze(config);
};

/** The table with each variable's value: set values as they are, secrets masked, defaults named. */
export const describeConfig = (env: Environment) =>
	configTable.map(({name, fallback, meaning, secret = false}) => {
		const value = env[name]?.trim() || null;
		return {name, value: value !== null && secret ? '********' : value, default: fallback, meaning, secret};
	});
