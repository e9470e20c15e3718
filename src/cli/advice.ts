import {OplinkApiError, OplinkConnectionError} from '../client/errors.ts';
import type {ApiClient} from './server/admin-client.ts';
import type {ChosenServer, Connection} from './server/connection.ts';
import type {Page} from './server/list-pages.ts';

/** The built-in plans; a server's PLANS_FILE may define others. */
export const planNames = ['STARTER', 'SOLO', 'GROWTH', 'SCALE', 'ENTERPRISE'] as const;

const EVENTS = 'List the events with their ids: oplink billing events, or oplink webhooks list';

/** The next step after a refusal, by its code (src/platform/errors.ts). */
export const nextSteps: Readonly<Record<string, string>> = {
	plan_not_selected: 'Set a plan: oplink plan set --org ORG PLAN (oplink plan list shows the limits)',
	quota_exceeded: 'A larger plan lifts the limit; with the admin token: oplink plan set --org ORG PLAN',
	feature_not_available: 'Set a plan that includes it; with the admin token: oplink plan set --org ORG PLAN',
	app_config_required:
		'Register the apps: oplink app-config set --org ORG --file app.json; oplink app-config example prints one to fill in',
	organization_not_found: 'Name it by its id or orgKey: oplink orgs list --search TEXT shows them by name',
	organization_has_subscription:
		'Cancel it at once, also at its gateway, with oplink plan set --org ORG none; then delete the organization',
	organization_name_taken: 'Choose another name; oplink orgs list --search TEXT shows the organization that has it',
	domain_record_missing:
		'Set that TXT record at the DNS provider of the zone and repeat this when resolvers see it: dig +short TXT NAME; ' +
		'an operator who knows the owner verifies without it: oplink domains approve',
	domain_rejected: 'Approve the domain without a DNS record: oplink domains approve',
	domain_lookup_failed: 'Check the name servers of the zone, and DNS_SERVERS of the server: oplink doctor',
	domain_taken:
		'oplink domains list shows the domains of an organization; another one may have it, which must remove it first',
	domain_not_verified:
		'Verify the domain: oplink domains verify DOMAIN, or without a DNS record oplink domains approve DOMAIN',
	click_store_unavailable:
		'The ClickHouse of CLICKS_URL does not answer the server: oplink doctor says why; clicks wait in the journal meanwhile',
	short_code_taken:
		'Choose another short code, or omit it to have one generated; ' +
		'oplink links list --search TEXT shows the link that has it, which oplink links update changes',
	external_id_taken: 'oplink links list --external-id ID shows the link that has it',
	template_name_taken: 'Choose another name, or change that template: oplink templates update',
	template_in_use: 'Detach each link: oplink links update LINK --clear templateId',
	channel_taken: 'oplink channels list shows those that exist',
	link_not_found: 'oplink links list shows the short codes',
	unknown_link_domain: 'oplink domains list shows the hosts that serve links',
	match_attempt_not_found: 'oplink match list shows the attempts with their ids',
	user_not_found: 'oplink devices list shows the devices and their users',
	device_not_found: 'oplink devices list shows the devices',
	gateway_event_not_found: EVENTS,
	identity_event_not_found: EVENTS,
	missing_scope: 'Create a token with the scope: oplink tokens create --name NAME --scope SCOPE',
	bound_to_organization: 'Use a token that is not limited to an organization, or name its organization with --org',
	claim_refused: 'Ask the operator of the server, whose OPERATOR_OIDC_FILE has the rules for claims',
	endpoint_not_found: 'oplink endpoints list shows the endpoints with their ids',
	delivery_body_gone: 'Bodies are deleted 7 days after success; oplink export has the rows',
	unknown_plan: `Plans are ${planNames.join(', ')}, none, or those in PLANS_FILE of the server`,
};

const byStatus: Readonly<Record<number, string>> = {
	401: 'oplink login, or check --token or OPLINK_ADMIN_TOKEN; with an API key --api-key or OPLINK_API_KEY',
	403: 'Use a SERVER key (opl_api_…) for links and qr, and the admin token for everything else',
	503: 'Run oplink doctor to see what is unavailable',
};

/** The refusal's code. Where a proxy removed the header, the body of a structured one still has it, in capitals. */
const codeOf = ({errorCode, code}: OplinkApiError): string | undefined => errorCode ?? code?.toLowerCase();

/** The next step after a refusal, by its code, else by its status. */
export const nextStepAfter = (error: OplinkApiError): string | null => {
	const step = nextSteps[codeOf(error) ?? ''] ?? byStatus[error.status] ?? null;
	const [scope] = /\b[a-z]+:(?:read|write)$|\bmoderation$/.exec(error.message) ?? [];
	return scope === undefined ? step : (step?.replace(/SCOPE$/, scope) ?? null);
};

/** A plan of the price list; null means unlimited. */
type ListedPlan = {plan: string; features: Record<string, boolean>; quotas: Record<string, number | null>};
type WithPlan = {plan: string | null};

const limitOf = (plan: ListedPlan, quota: string): number => plan.quotas[quota] ?? Number.POSITIVE_INFINITY;

/** The smallest sufficient plan; of several the first on the list. */
const leastOf = (plans: ListedPlan[], quota: string): ListedPlan | undefined =>
	plans.toSorted((a, b) => (limitOf(a, quota) === limitOf(b, quota) ? 0 : limitOf(a, quota) - limitOf(b, quota)))[0];

/** The next step after a used-up quota, or null if the organization's plan is not on the list. */
const afterQuota = (plans: ListedPlan[], current: string, quota: string, org: string): string | null => {
	const own = plans.find(({plan}) => plan === current.toUpperCase());
	if (own === undefined) {
		return null;
	}

	const larger = plans.filter((plan) => limitOf(plan, quota) > limitOf(own, quota));
	const next = leastOf(larger, quota);
	return next === undefined
		? `No plan has more ${quota} than ${own.plan}: add one to PLANS_FILE, or free some`
		: `Set a larger plan: oplink plan set --org ${org} ${next.plan}`;
};

const withFeature = (plans: ListedPlan[], feature: string, org: string): string => {
	const having = plans.filter(({features}) => features[feature] === true);
	const first = leastOf(having, 'links');
	return first === undefined
		? `No plan has ${feature}: add it to one in PLANS_FILE`
		: `Set a plan that has it: oplink plan set --org ${org} ${first.plan}`;
};

const knownChannels = async (admin: ApiClient, org: string): Promise<string> => {
	const {data} = await admin.get<Page<{name: string}>>(`/admin/organizations/${org}/channels`, {limit: 100});
	const names = data.map(({name}) => name).join(', ');
	return `${names === '' ? 'There are no channels' : `Channels are ${names}`}; oplink channels create NAME adds one`;
};

/** The advice if the server that left its address in DATA_DIR does not answer there. */
const afterSilence = ({addressFile}: ChosenServer): string | null =>
	addressFile === null
		? null
		: `A server left that address in ${addressFile}; start it again with oplink serve, or name another one with --url`;

/**
 * Suggests the plan that would have allowed a refused request, the channels that it might have named, or the server to
 * start. Null if the failure had another reason or the plan is unknown: a SERVER key does not say whose plan it is.
 * Never throws.
 */
export const adviceFor = async (error: unknown, connection: Connection): Promise<string | null> => {
	if (error instanceof OplinkConnectionError) {
		return afterSilence(connection.server());
	}

	if (!(error instanceof OplinkApiError)) {
		return null;
	}

	const code = codeOf(error);
	const {path, quota, feature} = error.envelope ?? {};
	const [, org] = /^\/admin\/organizations\/([^/]+)/.exec(String(path)) ?? [];
	if (org === undefined) {
		return null;
	}

	try {
		const admin = connection.admin();
		const plans = () => admin.get<ListedPlan[]>('/portal/billing/pricing');
		switch (code) {
			case 'unknown_channel':
				return await knownChannels(admin, org);
			case 'feature_not_available':
				return withFeature(await plans(), String(feature), org);
			case 'quota_exceeded': {
				const {plan} = await admin.get<WithPlan>(`/admin/organizations/${org}`);
				return plan === null ? null : afterQuota(await plans(), plan, String(quota), org);
			}
			default:
				return null;
		}
	} catch {
		// The refusal matters; failing advice must not replace it.
		return null;
	}
};
