import {readFileSync} from 'node:fs';
import {isIP} from 'node:net';
import path from 'node:path';
import {geoipFault} from '../countries.ts';
import {relayRangesFault} from '../relay-ranges.ts';
import {isWebhookSecret} from '../sign-webhook.ts';
import {aliasesOf, aliasFault} from './aliases.ts';
import {clickHouseUrlFault, databaseUrlFault} from './database-url.ts';
import {type OperatorProvider, readOperatorProviders} from './operator-providers.ts';
import {type Plans, placeholderWarning, readPlans, shippedPlans} from './plans.ts';
import {readSecrets, type Secrets, textsOf} from './secrets.ts';
import {type Environment, readVariables, type ValuesOf} from './variable.ts';
import {secretNames, variables} from './variables.ts';

/** All faults of the environment, one sentence each. */
export class ConfigError extends Error {
	override name = 'ConfigError';

	constructor(readonly faults: string[]) {
		super(faults.join('\n'));
	}
}

type Values = ValuesOf<typeof variables>;
type WithValue<T, K extends keyof T> = T & {readonly [P in K]: NonNullable<T[P]>};

export type StripeConfig = WithValue<Values['stripe'], 'secretKey'>;
export type PaymobConfig = WithValue<Values['paymob'], 'secretKey' | 'publicKey' | 'cardIntegrationId'>;

/** The variables' values, and values derived from them. */
export type Config = Omit<Values, 'stripe' | 'paymob' | 'logFormat'> &
	Readonly<{
		/** Whether a first start creates a demo organization: with the embedded database, and never in production. */
		demo: boolean;
		/** Null: the gateway is off. */
		stripe: StripeConfig | null;
		paymob: PaymobConfig | null;
		plans: Plans;
		/** Providers whose tokens are accepted from operators. */
		operatorProviders: readonly OperatorProvider[];
		logFormat: NonNullable<Values['logFormat']>;
		warnings: readonly string[];
	}>;

/** The addresses of the service and the base of its short URLs. */
export type Addresses = Readonly<{
	publicUrl: string;
	linkDomain: string;
	/** Host names that serve what the link domain serves. */
	aliases: readonly string[];
	linkScheme: 'http' | 'https';
}>;

const isLoopbackHost = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i.test(host);

/** The addresses of a service on `port`: the configured ones, else this machine's. */
export const addressesOf = (
	config: Pick<Config, 'publicUrl' | 'linkDomain' | 'linkDomainAliases' | 'linkScheme'>,
	port: number,
): Addresses => {
	const linkDomain = config.linkDomain ?? `localhost:${port}`;
	return {
		publicUrl: config.publicUrl ?? `http://localhost:${port}`,
		linkDomain,
		aliases: aliasesOf(config.linkDomainAliases),
		linkScheme: config.linkScheme ?? (isLoopbackHost(linkDomain) ? 'http' : 'https'),
	};
};

/** The URLs of LINK_DOMAIN and of its aliases, which have its port. */
export const linkBases = ({linkScheme, linkDomain, aliases}: Addresses): string[] => {
	const [port = ''] = /:\d+$/.exec(linkDomain) ?? [];
	return [linkDomain, ...aliases.map((alias) => alias + port)].map((host) => `${linkScheme}://${host}`);
};

/** The key is derived from the secret, so a short secret works, but can be guessed. */
const MIN_KEY_SECRET = 16;

/** A rule between variables, or beyond their declarations: a sentence if it is violated. */
type Rule = (values: Values, plans: Plans) => string | false | null;

const isProduction = ({nodeEnv}: Values): boolean => nodeEnv === 'production';

/** An address or a host name. A name that ends in a number is a malformed IPv4 address. */
const isHost = (host: string): boolean =>
	isIP(host) !== 0 || (/^[\w-]+(?:\.[\w-]+)*\.?$/.test(host) && !/(?:^|\.)\d+\.?$/.test(host));

/** A sentence on the fault of a value; null without one. */
const faultIn = <T>(name: string, value: T | null, faultOf: (value: T) => string | null): string | null => {
	const fault = value === null ? null : faultOf(value);
	return fault === null ? null : `${name} ${fault}`;
};

/** Violations end the start. Each begins with the name of the variable. */
const requirements: readonly Rule[] = [
	({host}) =>
		!isHost(host) && 'HOST must be an address or a host name of this machine, without scheme, port or brackets',
	// Creating a folder there never ends.
	({dataDir}) =>
		/^\/(?:proc|sys)(?:\/|$)/.test(path.resolve(dataDir)) &&
		'DATA_DIR must not be below /proc or /sys, which keep no files',
	(values) => isProduction(values) && values.adminToken === null && 'ADMIN_TOKEN must be set with NODE_ENV=production',
	(values) =>
		isProduction(values) &&
		values.clockOffsetSeconds !== 0 &&
		'CLOCK_OFFSET is for tests and refused with NODE_ENV=production',
	({databaseUrl}) => faultIn('DATABASE_URL', databaseUrl, databaseUrlFault),
	({databaseListenUrl}) => faultIn('DATABASE_LISTEN_URL', databaseListenUrl, databaseUrlFault),
	({databaseUrl, databaseListenUrl}) =>
		databaseListenUrl !== null &&
		databaseUrl === null &&
		'DATABASE_LISTEN_URL is the same database as DATABASE_URL, which must be set too',
	(values) => faultIn('LINK_DOMAIN_ALIASES', values, aliasFault),
	({clicksUrl}) => faultIn('CLICKS_URL', clicksUrl, clickHouseUrlFault),
	({paymob: {secretKey, publicKey}}) =>
		secretKey !== null && publicKey === null && 'PAYMOB_PUBLIC_KEY must be set with PAYMOB_SECRET_KEY',
	({paymob: {secretKey, cardIntegrationId}}) =>
		secretKey !== null && cardIntegrationId === null && 'PAYMOB_CARD_INTEGRATION_ID must be set with PAYMOB_SECRET_KEY',
];

/** Tokens that documents show, or showed, as placeholders. */
const PUBLISHED_TOKENS = new Set(['at-least-32-visible-characters-without-a-space']);

/** Violations are insecure or cause later refusals; the start and the doctor warn of them. */
const advice: readonly Rule[] = [
	({adminToken}) =>
		adminToken !== null &&
		PUBLISHED_TOKENS.has(adminToken) &&
		'ADMIN_TOKEN is the placeholder of the documents: anyone can read and change everything',
	({keySecret}) =>
		keySecret !== null &&
		keySecret.length < MIN_KEY_SECRET &&
		`OPLINK_KEY_SECRET is shorter than ${MIN_KEY_SECRET} characters: anyone with a copy of the database could guess it`,
	({stripe}, plans) => stripe.secretKey !== null && placeholderWarning(plans),
	({idp}) =>
		idp.webhookSecret !== null &&
		!isWebhookSecret(idp.webhookSecret) &&
		'IDP_WEBHOOK_SECRET is not whsec_ followed by base64: every delivery will be refused with 400',
	({idp}) =>
		(idp.issuer === null) !== (idp.jwksUrl === null) &&
		'IDP_ISSUER and IDP_JWKS_URL must both be set: every session will be refused with 401',
];

const has = <T extends object, K extends keyof T>(values: T, ...keys: K[]): values is WithValue<T, K> =>
	keys.every((key) => values[key] !== null);

/** A sentence that begins with a variable, and the file that its value is from. */
const withPlace = (sentence: string, {known}: Secrets): string => {
	const from = known.get(sentence.split(' ', 1)[0] ?? '')?.from ?? null;
	return from === null ? sentence : `${sentence} (in ${from})`;
};

/**
 * The validated configuration of `env`.
 * @param isTerminal whether logs go to a terminal, where the default format is `pretty`. @param secrets read already.
 * @throws ConfigError with one sentence per fault.
 */
export const loadConfig = (
	env: Environment,
	{isTerminal = false, secrets = readSecrets(env, secretNames)}: {isTerminal?: boolean; secrets?: Secrets} = {},
): Config => {
	const faults: string[] = [...secrets.faults];
	const values = readVariables(variables, textsOf(env, secrets), faults);
	let plans: Plans = {};
	try {
		plans = values.plansFile === null ? shippedPlans() : readPlans(readFileSync(values.plansFile, 'utf8'));
	} catch (error) {
		faults.push(`PLANS_FILE could not be used: ${(error as Error).message}`);
	}

	const operators =
		values.operatorOidcFile === null ? null : readOperatorProviders(values.operatorOidcFile, isProduction(values));
	faults.push(...(operators?.faults ?? []).map((fault) => `OPERATOR_OIDC_FILE ${fault}`));

	const ofFiles = [
		faultIn('RELAY_RANGES_FILE could not be used:', values.relayRangesFile, relayRangesFault),
		faultIn('GEOIP_FILE could not be used:', values.geoipFile, geoipFault),
	];
	faults.push(...ofFiles.filter((fault) => fault !== null));

	const broken = (rules: readonly Rule[]) => rules.flatMap((rule) => rule(values, plans) || []);
	// An invalid variable counts as unset for the rules, without being reported as missing.
	const isNew = (fault: string) => !faults.some((known) => known.split(' ')[0] === fault.split(' ')[0]);
	faults.push(...broken(requirements).filter(isNew));
	if (faults.length > 0) {
		throw new ConfigError(faults.map((fault) => withPlace(fault, secrets)));
	}

	const {stripe, paymob, linkDomain} = values;
	return Object.freeze({
		...values,
		dataDir: path.resolve(values.dataDir),
		linkDomain: linkDomain?.toLowerCase() ?? null,
		demo: values.databaseUrl === null && !isProduction(values),
		stripe: has(stripe, 'secretKey') ? stripe : null,
		paymob: has(paymob, 'secretKey', 'publicKey', 'cardIntegrationId') ? paymob : null,
		plans,
		operatorProviders: operators?.providers ?? [],
		logFormat: values.logFormat ?? (isTerminal ? 'pretty' : 'json'),
		warnings: broken(advice).map((warning) => withPlace(warning, secrets)),
	});
};
