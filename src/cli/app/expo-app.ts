import {type ExpoConfig, withOplink} from '../../client/expo.ts';
import {
	type AndroidApp,
	dataOf,
	type Entitlements,
	entitlementsOf,
	type Filter,
	type InfoPlist,
} from './declared-app.ts';
import {
	at,
	FileFault,
	fieldsOf,
	type Located,
	listOf,
	type Place,
	textOf,
	textsOf,
	type Value,
} from './source-position.ts';

/** The native app that an Expo configuration produces for each platform. */
type ExpoApp = {android: AndroidApp; entitlements: Entitlements; info: InfoPlist};

const ACTION = 'android.intent.action.';
const CATEGORY = 'android.intent.category.';
/** A value as Expo writes it into the manifest, where a list becomes one text with commas. */
const writtenText = ({content}: Value): string =>
	Array.isArray(content) ? content.map((one: Value) => writtenText(one)).join() : String(content);

const located = (text: string, place: Place): Located => ({text, place});
const written = (value: Value): Located => located(writtenText(value), value.place);

/** A filter of the activity that Expo makes. */
const filterAt = (
	place: Place,
	parts: Pick<Filter, 'autoVerify' | 'actions' | 'categories'>,
	data: Parameters<typeof dataOf>[0],
): Filter => ({
	place,
	...parts,
	exported: [located('true', place)],
	enabled: [],
	permissions: [],
	...dataOf(data),
	group: null,
});

const filterOf = (filter: Value): Filter => {
	const {place} = filter;
	const data = listOf(at(filter, 'data')).map((one) => [...fieldsOf(one)]);
	const lists = data.flat().filter(([, {content}]) => typeof content === 'object' && content !== null);
	const named = (prefix: string, name: string): Located[] =>
		textsOf(at(filter, name)).map((one) => located(prefix + one.text, one.place));
	const combined = filterAt(
		place,
		{
			// Expo writes true for whatever is not empty.
			autoVerify: at(filter, 'autoVerify')?.content ? [located('true', place)] : [],
			actions: named(ACTION, 'action'),
			categories: named(CATEGORY, 'category'),
		},
		data.map((fields) => new Map(fields.map(([name, one]) => [`android:${name}`, written(one)]))),
	);
	const unreadable = lists.map(([name, one]) => ({...written(one), name, what: 'a list'}));
	return {...combined, unreadable: [...combined.unreadable, ...unreadable]};
};

/** Expo makes a filter of this form for each scheme of the app. */
const schemeFilter = (scheme: Located): Filter => {
	const say = (text: string): Located => located(text, scheme.place);
	const categories = [say(`${CATEGORY}DEFAULT`), say(`${CATEGORY}BROWSABLE`)];
	const parts = {autoVerify: [], actions: [say(`${ACTION}VIEW`)], categories};
	return filterAt(scheme.place, parts, [new Map([['android:scheme', scheme]])]);
};

/** The apps of an Expo configuration: the content of app.json, or the output of `npx expo config --json`. */
export const expoAppOf = (file: Value): ExpoApp => {
	const config = at(file, 'expo') ?? file;
	const [ios, android] = [at(config, 'ios') ?? config, at(config, 'android') ?? config];
	const schemesOf = (platform: string): Located[] =>
		[at(config, 'scheme'), at(config, platform, 'scheme')].flatMap((scheme) => textsOf(scheme));
	const signed = entitlementsOf(at(ios, 'entitlements') ?? ios);
	const declared = at(ios, 'associatedDomains');
	return {
		android: {
			place: android.place,
			kit: 'expo',
			packageName: textOf(at(config, 'android', 'package')) ?? null,
			filters: [
				...listOf(at(config, 'android', 'intentFilters')).map(filterOf),
				...schemesOf('android').map(schemeFilter),
			],
			isFlutter: false,
			flutterLinks: null,
		},
		entitlements: {
			...signed,
			kit: 'expo',
			place: declared?.place ?? signed.place,
			domains: [...textsOf(declared), ...signed.domains],
			teamId: textOf(at(config, 'ios', 'appleTeamId')) ?? signed.teamId,
		},
		info: {
			place: at(config, 'scheme')?.place ?? config.place,
			kit: 'expo',
			bundleId: textOf(at(config, 'ios', 'bundleIdentifier')) ?? null,
			schemes: schemesOf('ios'),
			flutterLinks: null,
		},
	};
};

const PLUGIN = 'oplink/expo';

const asValue = (content: unknown, place: Place): Value => {
	if (Array.isArray(content)) {
		return {place, content: content.map((one) => asValue(one, place))};
	}

	return typeof content === 'object' && content !== null
		? {place, content: new Map(Object.entries(content).map(([name, one]) => [name, asValue(one, place)]))}
		: {place, content: content as string | number | boolean | null};
};

/** The value with these items added to the list at a path of names. */
const withAdded = (value: Value, [name, ...rest]: string[], added: readonly Value[]): Value => {
	if (name === undefined) {
		return {place: value.place, content: [...listOf(value), ...added]};
	}

	const fields = fieldsOf(value);
	const place = added[0]?.place ?? value.place;
	const child = fields.get(name) ?? {place, content: rest.length === 0 ? [] : new Map()};
	return {place: value.place, content: new Map([...fields, [name, withAdded(child, rest, added)]])};
};

/** The configuration that the plugin adds for one setting. @throws FileFault for a setting that it refuses. */
const addedBy = (links: string[], place: Place): ExpoConfig => {
	try {
		return withOplink<ExpoConfig>({}, {links});
	} catch (error) {
		throw new FileFault(error instanceof Error ? error.message : String(error), place);
	}
};

/**
 * A configuration with the values that our plugin adds, each at the position of the setting that it comes from. Other
 * plugins are not run. The output of `npx expo config --json` has the values already; adding them again does no harm.
 */
export const withPlugin = (file: Value): Value => {
	const inner = at(file, 'expo');
	const config = inner ?? file;
	const nameOf = (one: Value) => textOf(one) ?? textsOf(one)[0];
	const ours = listOf(at(config, 'plugins')).find((one) => nameOf(one)?.text === PLUGIN);
	if (ours === undefined) {
		return file;
	}

	const settings = Array.isArray(ours.content) ? listOf(ours)[1] : undefined;
	const links = textsOf(at(settings, 'links'));
	addedBy(
		links.map(({text}) => text),
		ours.place,
	);
	const [domains, filters]: [Value[], Value[]] = [[], []];
	for (const {text, place} of links) {
		const {ios, android} = addedBy([text], place);
		domains.push(...listOf(asValue(ios?.associatedDomains, place)));
		filters.push(...listOf(asValue(android?.intentFilters, place)));
	}

	const clips = textsOf(at(settings, 'appClips')).map(({text, place}) => asValue(`appclips:${text}`, place));
	const withLinks = withAdded(
		withAdded(config, ['ios', 'associatedDomains'], [...domains, ...clips]),
		['android', 'intentFilters'],
		filters,
	);
	const all = withAdded(withLinks, ['scheme'], listOf(at(settings, 'scheme')));
	return inner === undefined ? all : {place: file.place, content: new Map([['expo', all]])};
};
