import type {Environment} from './environment.ts';

/** A line of the variables' table: what `oplink config` and `.env.example` list (contract/config 1). */
type Variable = {name: string; fallback: string; meaning: string; secret?: boolean};

/** The variables, in the order of contract/config 1, and NODE_ENV, which two of them ask. */
export const configTable: readonly Variable[] = [
	{name: 'HOST', fallback: '127.0.0.1', meaning: 'address to listen on'},
	{name: 'PORT', fallback: '3000', meaning: 'port to listen on; 0 picks a free one'},
	{name: 'DATA_DIR', fallback: './data', meaning: 'embedded database, click journal, generated secrets'},
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
	{
		name: 'JOURNAL_MAX_MB',
		fallback: '1024',
		meaning: 'most that clicks may take in DATA_DIR while they wait for the database, in MB',
	},
	{name: 'LINK_CACHE_MB', fallback: '64', meaning: 'memory for links that were resolved, in MB'},
	{
		name: 'MAX_CONNECTIONS',
		fallback: '10000',
		meaning: 'most connections that a process serves at once; less where ulimit -n allows less',
	},
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
	{
		name: 'NODE_ENV',
		fallback: '',
		meaning: 'production: ADMIN_TOKEN must be set, CLOCK_OFFSET is refused, no demo organization is made',
	},
];

/** The table with each variable's value: set values as they are, secrets masked, defaults named. */
export const describeConfig = (env: Environment) =>
	configTable.map(({name, fallback, meaning, secret = false}) => {
		const value = env[name]?.trim() || null;
		return {name, value: value !== null && secret ? '********' : value, default: fallback, meaning, secret};
	});
