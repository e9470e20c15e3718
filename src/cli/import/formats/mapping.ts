import type {Source} from '../../lines.ts';
import {tableRows} from './csv.ts';
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
import {isLineJson, jsonRows, ndjsonRows} from './json.ts';

type Values = (row: ForeignRow) => Record<string, unknown>;

/** How the rows of a service become links. The functions throw UnusableRow for a row that cannot become one. */
export type Mapping = {
	/** The row with its values at one level; by default they are. */
	flat?: Values;
	address: (row: ForeignRow) => URL;
	/** The destination in the app, and its name in the row. */
	path: readonly [name: string, value: (row: ForeignRow) => DeepLink];
	/** Other link fields: the name in the row, and the value unless it is the text of that name. */
	fields: Record<string, string | readonly [name: string, value: (row: ForeignRow) => unknown]>;
	/** Names of the addresses for single platforms. */
	destinations?: Partial<Record<Platform, string>>;
	/** The values that say that a link is off, by name. */
	inactive?: Values;
	apps?: (row: ForeignRow) => Array<Partial<AppClaims>>;
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

	const claims = [...(apps?.(row) ?? []), ...places.claims, {schemes: deepLink.schemes ?? []}];
	const claimed = (kind: keyof AppClaims) => claims.flatMap((claim: Partial<AppClaims>) => claim[kind] ?? []);
	const others = Object.entries(left(row)).flatMap(([name, value]) => (isPresent(value) ? name : []));
	return {
		link,
		facts: {
			host,
			prefix,
			apps: {
				bundleIds: claimed('bundleIds'),
				appStoreIds: claimed('appStoreIds'),
				packageNames: claimed('packageNames'),
				schemes: claimed('schemes'),
			},
			left: [...places.left, ...others].map(nameOf),
		},
	};
};

/** The link of a service's row, or the reason why the row cannot become one. `left`: further names without a counterpart. */
export const rowOfService = (
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

/** The columns of a dashboard's export, in lower case: the field of the API, and how a cell becomes its value. */
export type DashboardColumns = Record<string, readonly [field: string, value?: (cell: string) => unknown]>;

const nameOf = (heading: string): string => heading.trim().toLowerCase();

/** Whether a heading has all of these columns. */
export const hasColumns = (heading: string[], ...names: string[]): boolean =>
	names.every((name) => heading.some((cell) => nameOf(cell) === name));

/** A list of names in a cell, as JSON or separated by one of `, ; |`. */
export const namesIn = (cell: string): string[] =>
	cell
		.replaceAll(/^\[|\]$|"/g, '')
		.split(/[,;|]/)
		.flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));

/** A short URL, which dashboards show without its scheme. */
export const withScheme = (cell: string): string => (cell.includes('://') ? cell : `https://${cell}`);

/**
 * The rows of a CSV file that a service's dashboard exports, read as its API's objects. Columns without a field there
 * are reported as not carried over.
 */
export const dashboardRows = (source: Source, head: string, columns: DashboardColumns, mapping: Mapping) =>
	tableRows(source, head, (headings) => ({
		isHeading: true,
		width: headings.length,
		rowOf: (cells) => {
			const row: Record<string, unknown> = {};
			const left: string[] = [];
			for (const [index, heading] of headings.entries()) {
				const cell = cells[index]?.trim() ?? '';
				const name = nameOf(heading);
				const [field, read = (text: string): unknown => text] = Object.hasOwn(columns, name)
					? (columns[name] ?? [])
					: [];
				if (field !== undefined && cell !== '') {
					row[field] = read(cell);
				} else if (cell !== '') {
					left.push(heading.trim());
				}
			}

			return rowOfService(mapping, row, left);
		},
	}));

/** The rows of a service's objects in JSON. */
export async function* objectRows(source: Source, head: string, mapping: Mapping): AsyncGenerator<ImportRow> {
	for await (const given of isLineJson(head) ? ndjsonRows(source) : jsonRows(source)) {
		const {row, ...place} = given;
		yield row === undefined ? given : ({...place, ...rowOfService(mapping, row)} as ImportRow);
	}
}
