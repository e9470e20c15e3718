import type {Logger} from 'pino';

/** Countable things that a plan limits; `clicks` is per calendar month (UTC). */
export type QuotaName = 'links' | 'clicks' | 'members' | 'domains';
export type FeatureName = 'api_access' | 'custom_domains';

/** Currencies that plans are sold in (interface 4.5). */
export type Currency = 'USD' | 'EGP';

export type Plan = {
	/** Null: unlimited. */
	quotas: Record<QuotaName, number | null>;
	features: Record<FeatureName, boolean>;
	/** Minor units a month. */
	prices: Record<Currency, number>;
	stripePrice: string | null;
};

/** Plans by their uppercase name, in the order of the file. */
export type Plans = Readonly<Record<string, Plan>>;

/** What is wrong with a value, or null. Written out, because joi alone would be a tenth of a start (docs/performance.md). */
type Check = (value: unknown) => string | null;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const quota: Check = (value) => (value === null || isCount(value) ? null : 'must be a whole number, or null');
const price: Check = (value) => (isCount(value) ? null : 'must be a whole number');
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'must be a boolean');

const recordOf = (value: unknown): Record<string, unknown> | null =>
	typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

/** The faults of an object with these fields and no other, each with its path. */
const faultsIn = (at: string, value: unknown, fields: Record<string, (value: unknown, at: string) => string[]>) => {
	const record = recordOf(value);
	if (record === null) {
		return [`${at} ${value === undefined ? 'is required' : 'must be an object'}`];
	}

	const unknown = Object.keys(record).filter((name) => !Object.hasOwn(fields, name));
	return [
		...Object.entries(fields).flatMap(([name, check]) => check(record[name], `${at}.${name}`)),
		...unknown.map((name) => `${at}.${name} is not allowed`),
	];
};

const field =
	(check: Check) =>
	(value: unknown, at: string): string[] => {
		const fault = value === undefined ? 'is required' : check(value);
		return fault === null ? [] : [`${at} ${fault}`];
	};
const group =
	<Name extends string>(check: Check, ...names: Name[]) =>
	(value: unknown, at: string): string[] =>
		faultsIn(at, value, Object.fromEntries(names.map((name) => [name, field(check)])));

const planFields = {
	quotas: group<QuotaName>(quota, 'links', 'clicks', 'members', 'domains'),
	features: group<FeatureName>(flag, 'api_access', 'custom_domains'),
	prices: group<Currency>(price, 'USD', 'EGP'),
	stripePrice: (value: unknown, at: string) =>
		value === undefined || value === null || (typeof value === 'string' && value !== '')
			? []
			: [`${at} must be a text, or null`],
};

/** The plans of a plans file (decisions 1, `PLANS_FILE`). @throws with every fault of the text. */
export const readPlans = (text: string): Plans => {
	const plans = recordOf(JSON.parse(text));
	const entries = Object.entries(plans ?? {});
	const faults = entries.flatMap(([name, plan]) =>
		/^[A-Z][A-Z0-9_]*$/.test(name) ? faultsIn(name, plan, planFields) : [`${name} is not allowed`],
	);
	if (entries.length === 0) {
		faults.push('there must be an object with a plan at least');
	}

	if (faults.length > 0) {
		throw new Error(faults.join('. '));
	}

	return Object.freeze(
		Object.fromEntries(entries.map(([name, plan]) => [name, {stripePrice: null, ...(plan as Partial<Plan>)} as Plan])),
	);
};

/** The plan's name as it is written, uppercase, or null where there is no such plan (decisions 3). */
export const planNamed = (plans: Plans, name: string): string | null => {
	const upper = name.toUpperCase();
	return Object.hasOwn(plans, upper) ? upper : null;
};

/** A stored plan's name. One that is no plan counts as none, with a warning in the log (decisions 3). */
export const storedPlan = (plans: Plans, stored: string | null, log: Logger): string | null => {
	const name = stored === null ? null : planNamed(plans, stored);
	if (stored !== null && name === null) {
		log.warn({plan: stored}, 'an organization has a stored plan that is no plan; it counts as none');
	}

	return name;
};
