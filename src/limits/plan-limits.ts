import {allowances, bodyLimits, type Limit, limits} from './limits.ts';

/** The limits that a plan may set: those per key or device, since an address belongs to no organization. */
const rows = [limits, bodyLimits].flatMap((table): Limit[] => Object.values(table)).filter(({per}) => per !== 'ip');

export const planLimitNames: readonly string[] = rows.map(({name}) => name);

/** The limits that a plans file sets, by name (contract/limits 4). */
export type PlanLimits = Readonly<Record<string, {max: number; seconds: number}>>;

/** A limit as an organization's plan has it. Its windows have a name of their own, by which all processes know them. */
export const limitOfPlan = (limit: Limit, own: PlanLimits | undefined): Limit => {
	const set = own?.[limit.name];
	return set === undefined ? limit : withWindow(limit, set);
};

const withWindow = (limit: Limit, {max, seconds}: {max: number; seconds: number}): Limit => ({
	...limit,
	name: `${limit.name}@${max}/${seconds}`,
	max,
	windowSeconds: seconds,
});

/** The limit of a name that `limitOfPlan` made; null for another. */
const planLimitNamed = (name: string): Limit | null => {
	const [, row, max, seconds] = /^(\w+)@(\d+)\/(\d+)$/.exec(name) ?? [];
	const limit = rows.find((one) => one.name === row);
	return limit === undefined ? null : withWindow(limit, {max: Number(max), seconds: Number(seconds)});
};

const byName: ReadonlyMap<string, Limit> = new Map(
	[limits, bodyLimits, allowances]
		.flatMap((table): Limit[] => Object.values(table))
		.map((limit) => [limit.name, limit]),
);

/** The limit of that name, which processes of one version send each other. */
export const limitNamed = (name: string): Limit => {
	const found = byName.get(name) ?? planLimitNamed(name);
	if (found === null) {
		throw new Error(`unknown limit ${name}`);
	}

	return found;
};
