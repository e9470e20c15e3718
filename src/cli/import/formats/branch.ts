import {linkFields} from '../../../links/links/link-fields.ts';
import {isTooDeep} from '../../../platform/http/storable.ts';
import {parseJson} from '../../../platform/http/untrusted-json.ts';
import {deepLinkOf, type ForeignRow, shortAddress, textIn, textsIn, UnusableRow, webUrl} from './foreign-fields.ts';
import {isObject} from './import-row.ts';
import {type Mapping, namesOf} from './mapping.ts';

/** The dictionary of a link, which the API also accepts as JSON text. */
const dataOf = (value: unknown): Record<string, unknown> => {
	if (value === undefined || value === null || value === '') {
		return {};
	}

	const data = typeof value === 'string' ? parseJson(value) : value;
	if (!isObject(data) || isTooDeep(data)) {
		throw new UnusableRow('data is not a JSON object');
	}

	return data;
};

const DATA = 'data.';
const entriesOfData = (row: ForeignRow) =>
	Object.entries(row).flatMap(([name, value]) =>
		name.startsWith(DATA) ? [[name.slice(DATA.length), value] as const] : [],
	);

/** The link's own values for the app. Other types become JSON, because `params` hold texts. */
const paramsOf = (row: ForeignRow): Record<string, string> =>
	Object.fromEntries(
		entriesOfData(row)
			.filter(([name, value]) => !/^[$~+]/.test(name) && value !== null && name !== 'url')
			.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
	);

const control = (row: ForeignRow, name: string): string | undefined => textIn(row[`data.$${name}`]);

/** Analytics labels stand beside the dictionary; the API also reads them within it. */
const label = (name: string) => [name, (row: ForeignRow) => textIn(row[name]) ?? textIn(row[`data.~${name}`])] as const;

const urlOf = (row: ForeignRow): URL =>
	webUrl(textIn(row['url']) ?? textIn(row['data.+url']) ?? textIn(row['data.url']), 'url');

const addressOf = (row: ForeignRow): URL => {
	const alias = textIn(row['alias']);
	const url = urlOf(row);
	return alias === undefined ? url : webUrl(`${url.origin}/${alias.replace(/^\/+/, '')}`, 'alias');
};

/** Seconds as whole hours within a link's range (contract/links 1). */
const windowHours = (row: ForeignRow): number | undefined => {
	const seconds = textIn(row['duration']) ?? control(row, 'match_duration');
	const hours = Math.ceil(Number(seconds) / 3600);
	return seconds === undefined || !(hours > 0) ? undefined : Math.min(hours, linkFields.matchWindowHours.max);
};

const deepLinkIn = (row: ForeignRow) => deepLinkOf(control(row, 'deeplink_path') ?? '/');

/** An object of Branch's deep linking API. */
export const branch: Mapping = {
	flat: ({data, ...row}) => ({
		...row,
		...Object.fromEntries(Object.entries(dataOf(data)).map(([name, value]) => [DATA + name, value])),
	}),
	address: addressOf,
	path: ['data.$deeplink_path', deepLinkIn],
	fields: {
		params: ['data', (row) => ({...(deepLinkIn(row).fields['params'] as object | undefined), ...paramsOf(row)})],
		title: ['data.$marketing_title or $og_title', (row) => control(row, 'marketing_title') ?? control(row, 'og_title')],
		tags: ['tags', (row) => textsIn(row['tags'] ?? row['data.~tags'])],
		channel: label('channel'),
		utmSource: label('channel'),
		utmMedium: label('feature'),
		utmCampaign: label('campaign'),
		fallbackUrl: [
			'data.$fallback_url, $desktop_url or $canonical_url',
			(row) => control(row, 'fallback_url') ?? control(row, 'desktop_url') ?? control(row, 'canonical_url'),
		],
		'og.title': 'data.$og_title',
		'og.description': 'data.$og_description',
		'og.imageUrl': 'data.$og_image_url',
		matchWindowHours: ['duration or data.$match_duration', windowHours],
	},
	destinations: {
		ios: 'data.$ios_url',
		ipad: 'data.$ipad_url',
		android: 'data.$android_url',
		desktop: 'data.$desktop_url',
	},
	left: (row) => ({
		'one-time use': row['type'] === 1 && row['data.$one_time_use'] !== true,
		stage: label('stage')[1](row),
		"the url's own code beside the alias":
			textIn(row['alias']) !== undefined && urlOf(row).pathname !== `/${shortAddress(addressOf(row)).shortCode}`,
		...Object.fromEntries(entriesOfData(row).filter(([name]) => name.startsWith('$') && !carried.has(name))),
	}),
	nameOf: (name) => (name.startsWith(DATA) ? name.slice(DATA.length) : name),
};

/** Control parameters that a mapping names; others are reported as not carried over. */
const carried = new Set(Object.values(namesOf(branch)).flatMap((name) => name.match(/\$\w+/g) ?? []));
