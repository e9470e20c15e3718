import {type Finding, findingsOf} from '../../operations/doctor/finding.ts';
import type {AndroidApp, Filter, PathRule} from './android-app.ts';
import {packageFinding} from './check-android-ids.ts';
import {configHint, type ExpectedApp, type Host, kitHint} from './expected-app.ts';
import {isPlaceholder, type Place, placeText} from './source-position.ts';

const {ok, warn, fail} = findingsOf('Android');

const VIEW = 'android.intent.action.VIEW';
const CATEGORIES = ['android.intent.category.DEFAULT', 'android.intent.category.BROWSABLE'];

type Fault = {message: string; next: string};

/** Whether a host of a filter, which may begin with `*.`, is or includes a host. */
const includesHost = (pattern: string, host: string): boolean => {
	const lower = pattern.toLowerCase();
	return lower.startsWith('*') ? host.endsWith(lower.slice(1)) : lower === host;
};

/** The faults of a filter that any link needs to open the app. */
const structureFaults = ({actions, categories, isExported}: Filter): Fault[] => [
	...(actions.includes(VIEW) ? [] : [{message: `lacks the action ${VIEW}`, next: `Add the action ${VIEW}`}]),
	...CATEGORIES.filter((category) => !categories.includes(category)).map((category) => ({
		message: `lacks the category ${category}`,
		next: `Add the category ${category}`,
	})),
	...(isExported
		? []
		: [{message: 'is in an activity that is not exported', next: 'Set android:exported="true" on the activity'}]),
];

/** The faults of a filter that only verified https links have. */
const webFaults = (filter: Filter): Fault[] => [
	...structureFaults(filter),
	...(filter.schemes.some(({text}) => text === 'https')
		? []
		: [{message: 'lacks the scheme https', next: 'Set its scheme to https'}]),
	...(filter.autoVerify
		? []
		: [{message: 'lacks autoVerify, so Android opens the browser', next: 'Set its autoVerify to true'}]),
];

/** Whether a rule lets paths below `prefix` through, and no others. */
const isWithin = ({kind, text}: PathRule, prefix: string): boolean =>
	kind === 'pathPrefix' ? text.startsWith(prefix.slice(0, -1)) : kind !== 'pathSuffix' && text.startsWith(prefix);

/** Whether a rule lets every path below `prefix` through. */
const coversAll = ({kind, text}: PathRule, prefix: string): boolean =>
	kind === 'pathPrefix'
		? prefix.startsWith(text)
		: kind !== 'path' && kind !== 'pathSuffix' && [`${prefix}.*`, '.*', '/.*'].includes(text);

/** The finding for the paths of a host's filter, which is otherwise right. */
const pathFinding = ({place, paths}: Filter, host: Host, orgKey: string, kit: AndroidApp['kit']): Finding => {
	const prefix = host.isShared ? `/${orgKey}/` : '/';
	const ofPlugin = kit === 'expo' ? `Write ${host.name}/${orgKey} in links of the plugin, or set` : 'Set';
	const narrow = `${ofPlugin} pathPrefix ${prefix} in a filter for ${host.name} alone`;
	const wide = paths.find((rule) => coversAll(rule, prefix) && !isWithin(rule, prefix));
	const covering = paths.find((rule) => coversAll(rule, prefix));
	const at = placeText(wide?.place ?? covering?.place ?? paths[0]?.place ?? place);
	if (host.isShared && (paths.length === 0 || wide !== undefined)) {
		return fail('android.path', `the app also opens other organizations' links on ${host.name} (${at})`, narrow);
	}

	if (paths.length > 0 && covering === undefined) {
		const message = `links below ${prefix} on ${host.name} do not open the app: its filter has ${paths[0]?.kind} ${paths[0]?.text} (${at})`;
		return host.isShared
			? fail('android.path', message, narrow)
			: warn(
					'android.path',
					message,
					'Give the host a filter of its own without paths, if all its links are for the app',
				);
	}

	return ok('android.host', `links on ${host.name} open the app (${placeText(place)})`);
};

/** The place to look at if a host is in no filter: a filter for web links without a known host, or the file. */
const suspectPlace = ({filters, place}: AndroidApp, {hosts}: ExpectedApp): Place => {
	const suspect = filters.find(
		(filter) =>
			(filter.autoVerify || filter.schemes.some(({text}) => text === 'https')) &&
			!filter.hosts.some(({text}) => hosts.some(({name}) => includesHost(text, name))),
	);
	return suspect?.hosts[0]?.place ?? suspect?.place ?? place;
};

const hostFindings = (app: AndroidApp, expected: ExpectedApp, host: Host): Finding[] => {
	const candidates = app.filters.filter(({hosts}) => hosts.some(({text}) => includesHost(text, host.name)));
	const [best] = candidates
		.map((filter) => ({filter, faults: webFaults(filter)}))
		.toSorted((a, b) => a.faults.length - b.faults.length);
	if (best !== undefined) {
		return best.faults.length === 0
			? [pathFinding(best.filter, host, expected.orgKey, app.kit), ...mixedSchemes(best.filter)]
			: best.faults.map(({message, next}) =>
					fail('android.filter', `the filter for ${host.name} ${message} (${placeText(best.filter.place)})`, next),
				);
	}

	const filledIn = app.filters.flatMap(({hosts}) => hosts).find(({text}) => isPlaceholder(text));
	return filledIn === undefined
		? [
				fail(
					'android.host',
					`no filter has the host ${host.name} (${placeText(suspectPlace(app, expected))})`,
					kitHint(expected.orgKey, app.kit),
				),
			]
		: [
				warn(
					'android.host',
					`${host.name} may be the host ${filledIn.text}, which the build fills in (${placeText(filledIn.place)})`,
					filledIn.text.startsWith('@')
						? 'Write the host itself: resources are not read here'
						: 'Check the merged manifest',
				),
			];
};

/** Before Android 12 a filter with another scheme is not verified at all. */
const mixedSchemes = ({schemes}: Filter): Finding[] =>
	schemes
		.filter(({text}) => text !== 'https' && text !== 'http')
		.map(({text, place}) =>
			warn(
				'android.filter',
				`a filter with autoVerify also has the scheme ${text} (${placeText(place)})`,
				'Move it to a filter of its own: older versions of Android do not verify this one',
			),
		);

/**
 * The faults of a filter for an app's own scheme. Its links are `scheme://` and the path of a link, so that their host is
 * whatever the path begins with.
 */
const schemeFaults = (filter: Filter): Fault[] => [
	...structureFaults(filter),
	...filter.hosts.slice(0, 1).map(({text}) => ({
		message: `also has the host ${text}, so that it opens no others`,
		next: 'Give the scheme a filter of its own, without a host: Android combines schemes and hosts of one filter',
	})),
];

const schemeFinding = ({filters, place, kit}: AndroidApp, scheme: string, orgKey: string): Finding => {
	const [best] = filters
		.filter(({schemes}) => schemes.some(({text}) => text === scheme))
		.map((filter) => ({filter, faults: schemeFaults(filter)}))
		.toSorted((a, b) => a.faults.length - b.faults.length);
	if (best === undefined) {
		// A filter without data is where the scheme was.
		const empty = filters.find((filter) => !filter.autoVerify && filter.actions.includes(VIEW) && !filter.hosts.length);
		const at = placeText(empty?.schemes[0]?.place ?? empty?.place ?? place);
		return fail('android.scheme', `no filter has the scheme ${scheme} (${at})`, kitHint(orgKey, kit));
	}

	const [fault] = best.faults;
	const at = placeText(best.filter.place);
	return fault === undefined
		? ok('android.scheme', `${scheme}:// opens the app (${at})`)
		: fail('android.scheme', `the filter for ${scheme}:// ${fault.message} (${at})`, fault.next);
};

/** Findings for an Android app. */
export const checkAndroid = (app: AndroidApp, expected: ExpectedApp): Finding[] => {
	const {android, orgKey, hosts} = expected;
	if (android.length === 0) {
		return [
			fail('android.config', 'the server has no Android app', `Add it to the app configuration: ${configHint(orgKey)}`),
		];
	}

	const own = android.filter(({packageName}) => packageName === app.packageName?.text);
	const apps = own.length > 0 ? own : android;
	const schemes = new Set(apps.flatMap(({scheme}) => scheme ?? []));
	return [
		packageFinding(app, android, orgKey),
		...hosts.flatMap((host) => hostFindings(app, expected, host)),
		...[...schemes].map((scheme) => schemeFinding(app, scheme, orgKey)),
	];
};
