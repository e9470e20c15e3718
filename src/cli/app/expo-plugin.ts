import {type ExpoConfig, withOplink} from '../../client/expo.ts';
import {at, FileFault, listOf, type Place, textOf, textsOf, type Value} from './located.ts';

const PLUGIN = 'oplink/expo';

const asValue = (content: unknown, place: Place): Value => {
	if (Array.isArray(content)) {
		return {place, content: content.map((one) => asValue(one, place))};
	}

	return typeof content === 'object' && content !== null
		? {place, content: new Map(Object.entries(content).map(([name, one]) => [name, asValue(one, place)]))}
		: {place, content: content as string | number | boolean | null};
};

/** The value with these added to the list below a path of names. */
const withAdded = (value: Value, [name, ...rest]: string[], added: readonly Value[]): Value => {
	if (name === undefined) {
		return {place: value.place, content: [...listOf(value), ...added]};
	}

	const fields =
		value.content instanceof Map ? (value.content as ReadonlyMap<string, Value>) : new Map<string, Value>();
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
 * A configuration with what our plugin adds to it, each value at the place of the setting that it is made of. Other
 * plugins are not run. The output of `npx expo config --json` has the values already; they do no harm twice.
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
