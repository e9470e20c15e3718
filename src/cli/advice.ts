import {OplinkApiError, OplinkConnectionError} from '../client/errors.ts';
import {unknownChannel} from '../errors.ts';
import type {ApiClient} from './server/admin-client.ts';
import type {ChosenServer} from './server/chosen-server.ts';
import type {Connection} from './server/connection.ts';
import type {Page} from './server/list-pages.ts';

/** The built-in plans; a server's PLANS_FILE may define others. */
export const planNames = ['STARTER', 'SOLO', 'GROWTH', 'SCALE', 'ENTERPRISE'] as const;

/** A plan of the price list; null means unlimited. */
type ListedPlan = {plan: string; features: Record<string, boolean>; quotas: Record<string, number | null>};
type Named = {plan: string | null};

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

const UNKNOWN_CHANNEL = unknownChannel('').message.replace(/'$/, '');

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

	const {code, envelope} = error;
	const {path, quota, feature} = envelope ?? {};
	const [, org] = /^\/admin\/organizations\/([^/]+)/.exec(String(path)) ?? [];
	const isChannel = error.message.startsWith(UNKNOWN_CHANNEL);
	if (org === undefined || !(isChannel || code === 'QUOTA_EXCEEDED' || code === 'FEATURE_NOT_AVAILABLE')) {
		return null;
	}

	try {
		const admin = connection.admin();
		if (isChannel) {
			return await knownChannels(admin, org);
		}

		const plans = await admin.get<ListedPlan[]>('/portal/billing/pricing');
		if (code === 'FEATURE_NOT_AVAILABLE') {
			return withFeature(plans, String(feature), org);
		}

		const {plan} = await admin.get<Named>(`/admin/organizations/${org}`);
		return plan === null ? null : afterQuota(plans, plan, String(quota), org);
	} catch {
		// The refusal matters; failing advice must not replace it.
		return null;
	}
};
