import {usageError} from '../../cli-errors.ts';
import type {Source} from '../../lines.ts';
import {tableRows} from './csv.ts';
import {destinationOf, type ForeignRow, textIn, truthOf, utmNames, webUrl} from './foreign-fields.ts';
import {type Mapping, rowOfService} from './mapping.ts';

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

const titles = new Map<string, string>(columns);

const isDotted = (text: string): boolean => /^\d+(?:\.\d+)*$/.test(text);
const isWhole = (text: string): boolean => /^\d+$/.test(text);

const textsOf = (row: ForeignRow, ...names: string[]): string[] => names.flatMap((name) => textIn(row[name]) ?? []);
const firstOf = (row: ForeignRow, ...names: string[]): string | undefined => textsOf(row, ...names)[0];
const deepLinkUrl = (row: ForeignRow): URL => webUrl(textIn(row['link']), 'deep link');

/** A row of the export, by our names of its columns. */
export const firebase: Mapping = {
	address: (row) => webUrl(textIn(row['short_link']), 'short link'),
	path: ['link', (row) => ({fields: destinationOf(deepLinkUrl(row))})],
	fields: {
		...utmNames,
		'og.title': 'st',
		'og.description': 'sd',
		'og.imageUrl': 'si',
		title: ['Link name, else st', (row) => firstOf(row, 'name', 'st')],
		fallbackUrl: ['ofl, else link', (row) => firstOf(row, 'ofl') ?? deepLinkUrl(row).href],
		'minimumVersion.ios': ['imv', (row) => textsOf(row, 'imv').find(isDotted)],
		// 0 is every version.
		'minimumVersion.android': ['amv', (row) => Number(textsOf(row, 'amv').find(isWhole)) || undefined],
	},
	destinations: {ios: 'ifl', ipad: 'ipfl', android: 'afl', desktop: 'ofl'},
	inactive: (row) => ({'Archived?': row['archived']}),
	apps: (row) => [
		{
			bundleIds: textsOf(row, 'ibi', 'ipbi'),
			appStoreIds: textsOf(row, 'isi'),
			packageNames: textsOf(row, 'apn'),
			schemes: textsOf(row, 'ius'),
		},
	],
	left: (row) => ({
		amv: !textsOf(row, 'amv').every(isWhole),
		imv: !textsOf(row, 'imv').every(isDotted),
		efr: truthOf(row['efr']) !== false,
		...Object.fromEntries(['at', 'ct', 'mt', 'pt'].map((name) => [name, row[name]])),
	}),
	nameOf: (name) => titles.get(name) ?? name,
};

/** The column of a heading, which may be the bare parameter, with or without brackets. */
const columnNamed = (heading: string): string | undefined => {
	const text = heading.trim().toLowerCase();
	const inBrackets = /\((\w+)\)$/.exec(text)?.[1] ?? text;
	return columns.find(([name, title]) => name === inBrackets || title.toLowerCase() === text)?.[0];
};

/** The columns of a heading; unknown names are resolved by position if all positions are present. */
const columnsOf = (headings: string[]): string[] =>
	headings.map((heading, index) => {
		const column = columnNamed(heading) ?? (headings.length === columns.length ? columns[index]?.[0] : undefined);
		if (column === undefined) {
			throw usageError(`Unknown column '${heading}' in line 1`, `Columns are ${[...titles.values()].join(', ')}`);
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
export const firebaseRows = (source: Source, head = '') =>
	tableRows(source, head, (first) => {
		const isHeading = !isRow(first);
		const names = isHeading ? columnsOf(first) : columns.map(([name]) => name);
		return {
			isHeading,
			width: names.length,
			rowOf: (cells) => rowOfService(firebase, Object.fromEntries(names.map((name, index) => [name, cells[index]]))),
		};
	});
