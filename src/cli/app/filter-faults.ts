import type {Filter} from './declared-app.ts';
import {filledInHint, type Located, mayBecome} from './source-position.ts';

/** Why a filter opens no links; a warning if the build decides. */
export type Fault = {status: 'fail' | 'warn'; message: string; next: string};

const VIEW = 'android.intent.action.VIEW';
const CATEGORIES = ['android.intent.category.DEFAULT', 'android.intent.category.BROWSABLE'];

/** The fault of values that must include the wanted one. */
const missing = (found: readonly Located[], wanted: string, message: string, next: string): Fault[] => {
	if (found.some(({text}) => text === wanted)) {
		return [];
	}

	const filledIn = found.find(({text}) => mayBecome(text, wanted))?.text;
	return [
		filledIn === undefined
			? {status: 'fail', message, next}
			: {status: 'warn', message: `has ${filledIn}, which the build fills in`, next: filledInHint(filledIn)},
	];
};

/** The faults of a filter that any link needs to open the app. */
const structureFaults = ({actions, categories, exported, enabled, permissions, types, unreadable}: Filter): Fault[] => [
	...missing(actions, VIEW, `lacks the action ${VIEW}`, `Add the action ${VIEW}`),
	...CATEGORIES.flatMap((category) =>
		missing(categories, category, `lacks the category ${category}`, `Add the category ${category}`),
	),
	...missing(exported, 'true', 'is in an activity that is not exported', 'Set android:exported="true" on the activity'),
	...enabled.flatMap((value) =>
		missing([value], 'true', 'is in an activity that is disabled', 'Remove android:enabled="false"'),
	),
	...permissions.map(
		({text}): Fault => ({
			status: 'fail',
			message: `is in an activity that needs the permission ${text}, which browsers do not have`,
			next: 'Set android:permission="" on the activity',
		}),
	),
	...types.slice(0, 1).map(
		({text}): Fault => ({
			status: 'fail',
			message: `is for content of the type ${text}, which links do not have`,
			next: 'Move mimeType to a filter of its own',
		}),
	),
	...unreadable.map(
		({name, what}): Fault => ({
			status: 'fail',
			message: `has a data element whose ${name} is ${what}`,
			next: `Write a data element for each ${name}, with one text`,
		}),
	),
];

/** The faults of a filter that only verified https links have. */
export const webFaults = (filter: Filter): Fault[] => [
	...structureFaults(filter),
	...missing(filter.schemes, 'https', 'lacks the scheme https', 'Set its scheme to https'),
	...missing(filter.autoVerify, 'true', 'lacks autoVerify, so Android opens the browser', 'Set its autoVerify to true'),
];

/**
 * The faults of a filter for an app's own scheme. Its links are `scheme://` and the path of a link, so that their host is
 * whatever the path begins with.
 */
export const schemeFaults = (filter: Filter): Fault[] => [
	...structureFaults(filter),
	...filter.hosts
		.filter((_, __, all) => filter.paths.length > 0 || !all.some(({text, port}) => text === '*' && port === null))
		.slice(0, 1)
		.map(
			({text}): Fault => ({
				status: 'fail',
				message: `also has the host ${text}, so that it opens no others`,
				next: 'Give the scheme a filter of its own, without a host: Android combines schemes and hosts of one filter',
			}),
		),
];

/**
 * The filters that open links with the fewest faults, and those faults. A fault that is certain weighs more than a
 * warning.
 */
export const bestOf = (
	filters: readonly Filter[],
	faultsOf: (filter: Filter) => Fault[],
): {filters: Filter[]; faults: Fault[]} => {
	const weightOf = (faults: Fault[]): number =>
		faults.reduce((sum, {status}) => sum + (status === 'fail' ? 1000 : 1), 0);
	const judged = filters.map((filter) => ({filter, faults: faultsOf(filter)}));
	const [best] = judged.toSorted((a, b) => weightOf(a.faults) - weightOf(b.faults));
	const faults = best?.faults ?? [];
	const equal = judged.filter((one) => weightOf(one.faults) === weightOf(faults));
	return {filters: (faults.length === 0 ? equal : equal.slice(0, 1)).map(({filter}) => filter), faults};
};
