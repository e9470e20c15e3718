import {
	type DeepLink,
	type ForeignRow,
	inactiveIf,
	isPresent,
	type Platform,
	placesOf,
	presentFields,
	shortAddress,
	textIn,
	UnusableRow,
} from './foreign-fields.ts';
import {type AppClaims, type ForeignFacts, type ImportRow, putField} from './import-row.ts';

type Values = (row: ForeignRow) => Record<string, unknown>;

/** How the rows of a service become links. The functions throw UnusableRow for a row that cannot become one. */
export type Mapping = {
	/** The row with its values at one level; by default they are. */
	flat?: Values;
	/** The short URL. */
	address: (row: ForeignRow) => URL;
	/** The destination in the app, and its name in the row. */
	path: readonly [name: string, value: (row: ForeignRow) => DeepLink];
	/** Other link fields: the name in the row, and the value unless it is the text of that name. */
	fields: Record<string, string | readonly [name: string, value: (row: ForeignRow) => unknown]>;
	/** Names of the addresses for single platforms. */
	destinations?: Partial<Record<Platform, string>>;
	/** The values that say that a link is off, by name. */
	inactive?: Values;
	apps?: (row: ForeignRow) => Partial<AppClaims>;
	/** Values without a counterpart in a link, by name; empty ones do not count. */
	left: Values;
	/** A name in the row as people know it. */
	nameOf?: (name: string) => string;
};

/** The result of a foreign row: a create body, and facts that are not link fields. */
export type ForeignLink = {link: Record<string, unknown>; facts: ForeignFacts};

/** The name in a service's rows of each link field, for messages. */
export const namesOf = ({path: [path], destinations = {}, fields}: Mapping): Record<string, string> => ({
	path,
	params: path,
	...Object.fromEntries(Object.entries(destinations).map(([platform, name]) => [`destinations.${platform}`, name])),
	...Object.fromEntries(
		Object.entries(fields).map(([field, from]) => [field, typeof from === 'string' ? from : from[0]]),
	),
});

/** The link of a row. @throws UnusableRow. */
export const foreignLink = (mapping: Mapping, given: ForeignRow): ForeignLink => {
	const {flat, address, path, fields, destinations = {}, inactive, apps, left, nameOf = (name) => name} = mapping;
	const row = flat?.(given) ?? given;
	const {shortCode, host, prefix} = shortAddress(address(row));
	const deepLink = path[1](row);
	const places = placesOf(row, destinations);
	const valueFrom = (from: Mapping['fields'][string]) => (typeof from === 'string' ? textIn(row[from]) : from[1](row));
	const values = {
		...deepLink.fields,
		...presentFields(Object.fromEntries(Object.entries(fields).map(([field, from]) => [field, valueFrom(from)]))),
		shortCode,
		destinations: places.destinations,
		...inactiveIf(inactive?.(row) ?? {}),
	};
	const link: Record<string, unknown> = {};
	for (const [field, value] of Object.entries(presentFields(values))) {
		putField(link, field, value);
	}

	const {bundleIds = [], appStoreIds = [], packageNames = [], schemes = []} = apps?.(row) ?? {};
	const others = Object.entries(left(row)).flatMap(([name, value]) => (isPresent(value) ? name : []));
	return {
		link,
		facts: {
			host,
			prefix,
			apps: {
				bundleIds,
				appStoreIds: [...appStoreIds, ...places.claims.appStoreIds],
				packageNames: [...packageNames, ...places.claims.packageNames],
				schemes: [...schemes, ...(deepLink.schemes ?? [])],
			},
			left: [...places.left, ...others].map(nameOf),
		},
	};
};

/** What a row of a service becomes: a link, or the reason why it cannot be one. `left`: further names without a counterpart. */
export const mapped = (
	mapping: Mapping,
	given: ForeignRow,
	left: string[] = [],
): Pick<ImportRow, 'row' | 'foreign' | 'error'> => {
	try {
		const {link, facts} = foreignLink(mapping, given);
		return {row: link, foreign: {...facts, left: [...facts.left, ...left]}};
	} catch (error) {
		if (error instanceof UnusableRow) {
			return {error: error.message};
		}

		throw error;
	}
};
