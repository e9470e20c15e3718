import {usageError} from '../../cli-errors.ts';
import {csvWrapping, recordFault} from './csv.ts';
import {csvRecords} from './csv-records.ts';
import {
	copiedFields,
	destinationOf,
	type ForeignLink,
	foreignLink,
	mapped,
	placesOf,
	shortAddress,
	textIn,
	utmNames,
	webUrl,
} from './foreign-fields.ts';
import type {ImportRow} from './import-row.ts';
import {inactiveIf} from './inactive-if.ts';
import type {Source} from './lines.ts';
import {truthOf} from './truth.ts';

/** The 29 columns of the export in their documented order: our name and the heading. */
const columns = [
	['short_link', 'Short link'],
	['link', 'Deep link (link)'],
	['apn', 'Android package name (apn)'],
	['afl', 'Android fallback link (afl)'],
	['amv', 'Android minimum package version code (amv)'],
	['ibi', 'iOS bundle ID (ibi)'],
	['ifl', 'iOS fallback link (ifl)'],
	['ius', 'iOS custom scheme (ius)'],
	['ipfl', 'iOS iPad fallback link (ipfl)'],
	['ipbi', 'iOS iPad bundle ID (ipbi)'],
	['isi', 'iOS app store ID (isi)'],
	['imv', 'iOS minimum version (imv)'],
	['efr', 'Enable forced redirect? (efr)'],
	['ofl', 'Desktop fallback link (ofl)'],
	['st', 'Social title (st)'],
	['sd', 'Social description (sd)'],
	['si', 'Social image link (si)'],
	['utm_source', 'UTM source (utm_source)'],
	['utm_medium', 'UTM medium (utm_medium)'],
	['utm_campaign', 'UTM campaign (utm_campaign)'],
	['utm_term', 'UTM term (utm_term)'],
	['utm_content', 'UTM content (utm_content)'],
	['at', 'iTunes Connect at'],
	['ct', 'iTunes Connect ct'],
	['mt', 'iTunes Connect mt'],
	['pt', 'iTunes Connect pt'],
	['archived', 'Archived?'],
	['name', 'Link name'],
	['created', 'Creation timestamp'],
] as const;

type ColumnName = (typeof columns)[number][0];
type FirebaseRow = Partial<Record<ColumnName, string>>;

const headingOf = new Map<string, string>(columns);

const copied: Record<string, string> = {...utmNames, 'og.title': 'st', 'og.description': 'sd', 'og.imageUrl': 'si'};

/** Columns that link fields are read from. */
export const firebaseNames: Record<string, string> = {
	...copied,
	path: 'link',
	params: 'link',
	fallbackUrl: 'ofl, else link',
	title: 'Link name, else st',
	'destinations.ios': 'ifl',
	'destinations.ipad': 'ipfl',
	'destinations.android': 'afl',
	'destinations.desktop': 'ofl',
	'minimumVersion.ios': 'imv',
	'minimumVersion.android': 'amv',
};

const isDotted = (text: string): boolean => /^\d+(?:\.\d+)*$/.test(text);
const isWhole = (text: string): boolean => /^\d+$/.test(text);

const listOf = (...texts: Array<string | undefined>): string[] => texts.flatMap((text) => textIn(text) ?? []);

/** Converts a row to a link. @throws UnusableRow. */
export const firebaseLink = (row: FirebaseRow): ForeignLink => {
	const {shortCode, ...old} = shortAddress(webUrl(textIn(row.short_link), 'short link'));
	const deepLink = webUrl(textIn(row.link), 'deep link');
	const ofl = textIn(row.ofl);
	const places = placesOf(
		[
			['ios', 'ifl', row.ifl],
			['ipad', 'ipfl', row.ipfl],
			['android', 'afl', row.afl],
		],
		ofl,
	);
	const [imv, amv] = [textIn(row.imv), textIn(row.amv)];
	const left: Partial<Record<ColumnName, unknown>> = {
		...places.left,
		amv: amv !== undefined && !isWhole(amv),
		imv: imv !== undefined && !isDotted(imv),
		efr: truthOf(row.efr) !== false,
		at: row.at,
		ct: row.ct,
		mt: row.mt,
		pt: row.pt,
	};
	return foreignLink({
		link: {
			...destinationOf(deepLink),
			...copiedFields(row, copied),
			shortCode,
			title: textIn(row.name) ?? textIn(row.st),
			fallbackUrl: ofl ?? deepLink.href,
			destinations: places.destinations,
			'minimumVersion.ios': imv !== undefined && isDotted(imv) ? imv : undefined,
			// 0 is every version.
			'minimumVersion.android': (amv !== undefined && isWhole(amv) && Number(amv)) || undefined,
			...inactiveIf({'Archived?': row.archived}),
		},
		address: old,
		apps: {
			bundleIds: listOf(row.ibi, row.ipbi),
			appStoreIds: [...listOf(row.isi), ...places.claims.appStoreIds],
			packageNames: [...listOf(row.apn), ...places.claims.packageNames],
			schemes: listOf(row.ius),
		},
		left: Object.fromEntries(Object.entries(left).map(([name, value]) => [headingOf.get(name) ?? name, value])),
	});
};

/** The column of a heading, which may be the bare parameter, with or without brackets. */
const columnNamed = (heading: string): ColumnName | undefined => {
	const text = heading.trim().toLowerCase();
	const inBrackets = /\((\w+)\)$/.exec(text)?.[1] ?? text;
	return columns.find(([name, title]) => name === inBrackets || title.toLowerCase() === text)?.[0];
};

/** The columns of a heading; unknown names are resolved by position if all positions are present. */
const columnsOf = (headings: string[]): ColumnName[] =>
	headings.map((heading, index) => {
		const column = columnNamed(heading) ?? (headings.length === columns.length ? columns[index]?.[0] : undefined);
		if (column === undefined) {
			throw usageError(`Unknown column '${heading}' in line 1`, `Columns are ${[...headingOf.values()].join(', ')}`);
		}

		return column;
	});

/** Whether the first record is a row: the export may lack its heading. */
const isRow = ([shortLink = '']: string[]): boolean => /^https?:\/\//i.test(shortLink.trim());

/** Whether a first record belongs to this export. */
export const isFirebaseHeading = (cells: string[]): boolean =>
	isRow(cells)
		? cells.length === columns.length
		: ['short_link', 'link'].every((name) => cells.some((cell) => columnNamed(cell) === name));

/** The rows of the export as CSV, with or without a heading. @throws OperatorError for invalid CSV. */
export async function* firebaseRows(source: Source, head = ''): AsyncGenerator<ImportRow> {
	let names: ColumnName[] | null = null;
	let wrapping = csvWrapping(head, null);
	for await (const record of csvRecords(source, head)) {
		const {cells, raw, line} = record;
		if (names === null && !isRow(cells)) {
			names = columnsOf(cells);
			wrapping = csvWrapping(head, raw);
			continue;
		}

		names ??= columns.map(([name]) => name);
		const place = {line, raw, wrapping};
		const error = recordFault(record, names.length);
		yield error === null
			? mapped(place, Object.fromEntries(names.map((name, index) => [name, cells[index]])), firebaseLink)
			: {...place, error};
	}
}
