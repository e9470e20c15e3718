import {createRequire} from 'node:module';
import type {Logger} from 'pino';
import {readConfigFile} from '../package-root.ts';
import {type PlanLimits, planLimitNames} from './limits.ts';

/** Countable things that a plan limits; `clicks` is per calendar month (UTC). */
export type QuotaName = 'links' | 'clicks' | 'members' | 'domains';
/** The share of the links quota that links made by apps use (contract/sdk 5). */
export const APP_LINKS = 'appLinks';

export type FeatureName = 'api_access' | 'custom_domains';

/** Currencies that plans are sold in (contract/billing 2). */
export type Currency = 'USD' | 'EGP';

export type Plan = {
	/** Null: unlimited. */
	quotas: Record<QuotaName, number | null>;
	features: Record<FeatureName, boolean>;
	/** Minor units a month. */
	prices: Record<Currency, number>;
	stripePrice: string | null;
	/** The share of `quotas.links` that links made by apps take at most together, from 0 to 1. */
	appLinkShare: number;
	/** Instead of the rate limits of contract/requests 13. */
	limits?: PlanLimits;
};

/** Plans by their uppercase name, in the order of the file. */
export type Plans = Readonly<Record<string, Plan>>;

/** The free plan: selecting it activates it, and an unpaid or ended plan falls back to it (contract/billing 11). */
export const FREE_PLAN = 'STARTER';

const require = createRequire(import.meta.url);

/** Loaded only if there is a file to check, because joi alone would be a tenth of a start (docs/measurements.md). */
const loadJoi = () => require('joi') as typeof import('joi');

const DEFAULT_APP_LINK_SHARE = 0.5;

/** A window keeps the time of each request. */
const MAX_REQUESTS = 100_000;

const plansSchema = (Joi: typeof import('joi')) => {
	const quota = Joi.number().integer().min(0).allow(null).required();
	const price = Joi.number().integer().min(0).required();
	const limit = Joi.object({
		max: Joi.number().integer().min(1).max(MAX_REQUESTS).required(),
		seconds: Joi.number().integer().min(1).max(86_400).required(),
	});
	const planSchema = Joi.object<Plan>({
		quotas: Joi.object({links: quota, clicks: quota, members: quota, domains: quota}).required(),
		features: Joi.object({api_access: Joi.boolean().required(), custom_domains: Joi.boolean().required()}).required(),
		prices: Joi.object({USD: price, EGP: price}).required(),
		stripePrice: Joi.string().allow(null).default(null),
		appLinkShare: Joi.number().min(0).max(1).default(DEFAULT_APP_LINK_SHARE),
		limits: Joi.object(Object.fromEntries(planLimitNames.map((name) => [name, limit]))).messages({
			'object.unknown': `{{#label}} is not a limit of a plan; those are ${planLimitNames.join(', ')}`,
		}),
	});
	return Joi.object<Record<string, Plan>>()
		.pattern(/^[A-Z][A-Z0-9_]*$/, planSchema)
		.min(1);
};

/** Parses a plans file (contract/operations 11, `PLANS_FILE`). @throws with every fault of the text. */
export const readPlans = (text: string): Plans => {
	const Joi = loadJoi();
	const options = {abortEarly: false, convert: false};
	return Object.freeze(Joi.attempt(JSON.parse(text), plansSchema(Joi), options) as Record<string, Plan>);
};

/** The plans of `config/plans.json`, which a test validates by `readPlans`. */
export const shippedPlans = (): Plans => Object.freeze(readConfigFile<Plans>('plans.json'));

/** How many links of apps the plan allows, rounded down; null if its links are unlimited. */
export const appLinkLimit = ({quotas, appLinkShare}: Plan): number | null =>
	// Without the rounding to 12 digits, 0.29 of 100 would be 28.999…
	quotas.links === null ? null : Math.floor(Number((quotas.links * appLinkShare).toPrecision(12)));

/** The plan's canonical uppercase name, or null for an unknown plan (contract/requests 12). */
export const planNamed = (plans: Plans, name: string): string | null => {
	const upper = name.toUpperCase();
	return Object.hasOwn(plans, upper) ? upper : null;
};

/** The price of a stored plan; 0 for an unknown one. */
export const storedPrice = (plans: Plans, stored: string, currency: Currency): number =>
	plans[planNamed(plans, stored) ?? '']?.prices[currency] ?? 0;

/** A stored plan's name. An unknown one counts as none, with a warning in the log (contract/requests 12). */
export const storedPlan = (plans: Plans, stored: string | null, log: Logger): string | null => {
	const name = stored === null ? null : planNamed(plans, stored);
	if (stored !== null && name === null) {
		log.warn({plan: stored}, 'organization has an unknown plan; treating it as no plan');
	}

	return name;
};

/** Whether it is a price of the shipped plans file, which no gateway knows (contract/operations 11, `PLANS_FILE`). */
export const isPlaceholderPrice = (price: string): boolean => price.startsWith('price_oplink_');

/** A warning if plans are sold at placeholder prices, else null. */
export const placeholderWarning = (plans: Plans): string | null => {
	const names = Object.entries(plans).flatMap(([name, {stripePrice}]) =>
		stripePrice !== null && isPlaceholderPrice(stripePrice) ? [name] : [],
	);
	return names.length === 0
		? null
		: `PLANS_FILE has placeholders for the prices of ${names.join(', ')}: they cannot be bought through Stripe`;
};
