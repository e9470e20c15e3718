import {isIP} from 'node:net';
import {isProxyRange} from '../client-ip.ts';
import {choice, integer, isVariable, list, redis, text, url, type Variable, type Variables} from './variable.ts';

/** An address, with a port unless it is 53: `192.0.2.1:5353`, `[2001:db8::1]:5353`. Node crashes on port 0. */
const isResolver = (server: string): boolean => {
	const [, inBrackets, bare, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(server) ?? [];
	const isAddress = inBrackets === undefined ? isIP(bare ?? server) !== 0 : isIP(inBrackets) === 6;
	return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
};

const HOST_AND_PORT = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const PUBLIC_PROTOCOLS = ['http:', 'https:'];
const integration = {pattern: /^[1-9]\d{0,15}$/, expected: 'must be the number of an integration'};

/** All variables of the server in display order: that of contract/operations 6. */
export const variables = {
	host: text('HOST', 'address to listen on', {default: '127.0.0.1'}),
	port: integer('PORT', 'port to listen on; 0 picks a free one', {default: 3000, min: 0, max: 65_535}),
	dataDir: text('DATA_DIR', 'embedded database, click journal, generated secrets', {default: './data'}),
	databaseUrl: url('DATABASE_URL', 'external PostgreSQL 14 or later; unset: embedded in DATA_DIR', {
		protocols: ['postgres:', 'postgresql:'],
		secret: true,
	}),
	databaseListenUrl: url(
		'DATABASE_LISTEN_URL',
		'the same PostgreSQL without the pooler, for the one connection that listens; set: DATABASE_URL may be a pooler in transaction mode',
		{protocols: ['postgres:', 'postgresql:'], defaultInWords: 'DATABASE_URL', secret: true},
	),
	clicksUrl: url('CLICKS_URL', 'ClickHouse for raw clicks (docs/operating/scaling.md); unset: PostgreSQL has them', {
		protocols: ['clickhouse:', 'clickhouses:'],
		secret: true,
	}),
	redisUrl: redis(
		'REDIS_URL',
		'Redis that shares rate limits between machines, also as redis-sentinel://HOST,HOST2/NAME, or as a Cluster by several nodes; unset: they hold across the WORKERS of this machine',
		{secret: true},
	),
	workers: integer('WORKERS', 'processes on this machine sharing the port', {default: 1, min: 1, max: 256}),
	/** Null: derived from the bound port, see `addressesOf`; so are the next two. */
	publicUrl: url('PUBLIC_URL', 'base URL of the API host', {
		protocols: PUBLIC_PROTOCOLS,
		defaultInWords: 'http://localhost:PORT',
	}),
	linkDomain: text('LINK_DOMAIN', 'shared link domain, with its port unless that is 80 or 443', {
		pattern: HOST_AND_PORT,
		expected: 'must be a host name, with its port unless that is 80 or 443, and without scheme or path',
		defaultInWords: 'localhost:PORT',
	}),
	linkDomainAliases: list(
		'LINK_DOMAIN_ALIASES',
		'comma-separated hosts, at most 10, that serve all that LINK_DOMAIN serves, such as the former one',
	),
	linkScheme: choice('LINK_SCHEME', 'scheme of short URLs', {
		values: ['http', 'https'],
		defaultInWords: 'https, or http on a loopback name',
	}),
	/** Null: generated into `dataDir`. */
	adminToken: text('ADMIN_TOKEN', 'admin bearer secret, at least 32 characters', {
		pattern: /^[\x21-\x7e]{32,}$/,
		expected: 'must be at least 32 visible ASCII characters',
		defaultInWords: 'generated into DATA_DIR/admin-token',
		secret: true,
	}),
	trustedProxies: list('TRUSTED_PROXIES', 'comma-separated CIDRs whose X-Forwarded-* headers are trusted', {
		isItem: isProxyRange,
		expected: 'comma-separated CIDRs',
	}),
	/** The identity provider: verification of sessions, its backend API, and signatures of its webhooks. */
	idp: {
		/** Null, like the key set's URL: every session is 401 (contract/operations 9). The claim must equal it exactly. */
		issuer: url('IDP_ISSUER', 'issuer of session tokens; unset: every session is 401', {exact: true}),
		jwksUrl: url('IDP_JWKS_URL', 'key set for verifying session tokens; unset: every session is 401'),
		audience: list('IDP_AUDIENCE', 'comma-separated allowed aud of session tokens; unset: not checked'),
		authorizedParties: list(
			'IDP_AUTHORIZED_PARTIES',
			'comma-separated allowed azp of session tokens; unset: not checked',
		),
		apiUrl: url('IDP_API_URL', 'backend API of the identity provider', {default: 'https://api.clerk.com/v1'}),
		apiKey: text('IDP_API_KEY', "secret of the identity provider's backend API", {secret: true}),
		/** Null: every delivery is 400. */
		webhookSecret: text('IDP_WEBHOOK_SECRET', 'whsec_ and base64; unset: every delivery is 400', {secret: true}),
	},
	/** Provider organization id of the ops organization; null: no session is ops. */
	opsOrgId: text('OPS_ORG_ID', 'provider organization id of the ops organization; unset: no session is ops'),
	/** Stripe, the gateway for USD (GATEWAY_A). */
	stripe: {
		secretKey: text('STRIPE_SECRET_KEY', 'secret key of Stripe; unset: Stripe is off', {secret: true}),
		webhookSecret: text('STRIPE_WEBHOOK_SECRET', 'signing secret of Stripe webhooks', {secret: true}),
		apiUrl: url('STRIPE_API_URL', 'API of Stripe', {defaultInWords: "Stripe's own"}),
	},
	/** Paymob, the gateway for EGP (GATEWAY_B). Without the MOTO integration saved cards are not charged. */
	paymob: {
		secretKey: text('PAYMOB_SECRET_KEY', 'secret key of Paymob; unset: Paymob is off', {secret: true}),
		publicKey: text('PAYMOB_PUBLIC_KEY', 'public key of Paymob'),
		apiKey: text('PAYMOB_API_KEY', 'API key of Paymob', {secret: true}),
		hmacSecret: text('PAYMOB_HMAC_SECRET', 'HMAC secret of Paymob', {secret: true}),
		cardIntegrationId: text('PAYMOB_CARD_INTEGRATION_ID', 'Paymob integration for cards', {...integration}),
		motoIntegrationId: text(
			'PAYMOB_MOTO_INTEGRATION_ID',
			'Paymob integration for saved cards; unset: saved cards are not charged',
			{...integration},
		),
		apiUrl: url('PAYMOB_API_URL', 'API of Paymob', {default: 'https://accept.paymob.com'}),
		/** Unchanged, because a trailing slash may matter to the gateway. */
		checkoutUrl: url('PAYMOB_CHECKOUT_URL', 'hosted checkout of Paymob', {
			exact: true,
			default: 'https://accept.paymob.com/unifiedcheckout/',
		}),
	},
	/** Null: the API host's base URL. */
	billingReturnUrl: url('BILLING_RETURN_URL', 'URL that a hosted checkout returns to', {
		protocols: PUBLIC_PROTOCOLS,
		defaultInWords: 'PUBLIC_URL',
	}),
	operatorOidcFile: text(
		'OPERATOR_OIDC_FILE',
		'JSON file of OpenID Connect providers whose tokens operators and pipelines use (docs/operators.md)',
	),
	plansFile: text('PLANS_FILE', 'plans: quotas, features, prices, limits', {defaultInWords: 'config/plans.json'}),
	geoipFile: text(
		'GEOIP_FILE',
		'MMDB file of countries by address, for visits whose country no proxy reports (docs/reports.md)',
	),
	relayRangesFile: text(
		'RELAY_RANGES_FILE',
		'CSV file of the addresses of iCloud Private Relay, which guesses do not use',
	),
	linkPolicyFile: text(
		'LINK_POLICY_FILE',
		'JSON file of lists of hosts that links must not lead to, or of which visitors are warned (docs/contract/links.md 15)',
	),
	abuseContact: text(
		'ABUSE_CONTACT',
		'mailto: or https: address for reports of abuse; pages then have a link to report them',
		{
			pattern: /^(?:mailto:[^\s@?]+@[^\s@?]+|https:\/\/[^\s/]\S*)$/,
			expected: 'must be a mailto: address or a URL that begins with https://',
		},
	),
	webhookNetworks: list(
		'WEBHOOK_NETWORKS',
		'comma-separated CIDRs that webhooks may reach although they are not public',
		{
			isItem: isProxyRange,
			expected: 'comma-separated CIDRs',
		},
	),
	dnsServers: list('DNS_SERVERS', 'comma-separated addresses of resolvers for domain verification and webhooks', {
		isItem: isResolver,
		expected: 'comma-separated addresses of resolvers',
		defaultInWords: "the system's",
	}),
	/** The caches that phones ask instead of the host, and PostgreSQL's releases; only `oplink doctor --public` reads these. */
	publicCaches: {
		apple: url('APPLE_CDN_URL', "Apple's CDN of association files, for doctor --public", {
			default: 'https://app-site-association.cdn-apple.com',
		}),
		google: url('GOOGLE_VERIFIER_URL', "Google's verifier of association files, for doctor --public", {
			default: 'https://digitalassetlinks.googleapis.com',
		}),
		postgres: url('POSTGRES_VERSIONS_URL', "PostgreSQL's list of its releases, for doctor --public", {
			default: 'https://www.postgresql.org/versions.json',
		}),
	},
	journalMegabytes: integer('JOURNAL_MAX_MB', 'size limit of the click journal of a process in DATA_DIR, in MB', {
		default: 1024,
		min: 0,
		max: 1_048_576,
	}),
	linkCacheMegabytes: integer('LINK_CACHE_MB', 'memory for cached links per process, in MB', {
		default: 64,
		min: 0,
		max: 65_536,
	}),
	maxConnections: integer(
		'MAX_CONNECTIONS',
		'maximum concurrent connections per process; fewer if ulimit -n is lower',
		{
			default: 10_000,
			min: 1,
			max: 1_000_000,
		},
	),
	clickRetentionDays: integer('CLICK_RETENTION_DAYS', 'raw clicks older than this are dropped by partition', {
		default: 400,
		min: 1,
		max: 36_500,
	}),
	shutdownTimeoutSeconds: integer('SHUTDOWN_TIMEOUT', 'seconds for requests to finish during a stop', {
		default: 10,
		min: 0,
		max: 3600,
	}),
	clockOffsetSeconds: integer(
		'CLOCK_OFFSET',
		'seconds by which the clock of the service is shifted; refused in production',
		{
			default: 0,
			min: -3_155_760_000,
			max: 3_155_760_000,
		},
	),
	logLevel: choice('LOG_LEVEL', 'lowest level that is logged', {
		values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
		default: 'info',
	}),
	logFormat: choice('LOG_FORMAT', 'format of the log', {
		values: ['json', 'pretty'],
		defaultInWords: 'json, or pretty on a terminal',
	}),
	keySecret: text('OPLINK_KEY_SECRET', 'when set, raw API keys are encrypted at rest (AES-256-GCM)', {secret: true}),
	nodeEnv: text(
		'NODE_ENV',
		'production: ADMIN_TOKEN must be set, CLOCK_OFFSET is refused, no demo organization is made',
	),
};

const everyOne = (group: Variables): Array<Variable<unknown>> =>
	Object.values(group).flatMap((entry) => (isVariable(entry) ? [entry] : everyOne(entry)));

/** The variables in order, without groups. */
export const configTable: ReadonlyArray<Variable<unknown>> = everyOne(variables);

/** The variables that a file or a credential of systemd may hold. */
export const secretNames: readonly string[] = configTable.filter(({isSecret}) => isSecret).map(({name}) => name);
