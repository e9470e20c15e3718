import {isObject} from '../../../links/links/import/canonical-json.ts';
import {linkFields} from '../../../links/links/link-fields.ts';
import {isTooDeep} from '../../../platform/http/storable.ts';
import {parseJson} from '../../../platform/http/untrusted-json.ts';
import {
	deepLinkOf,
	destinationOf,
	type ForeignRow,
	isoTime,
	NO_HOST,
	shortAddress,
	storeClaims,
	textIn,
	textsIn,
	UnusableRow,
	utmNames,
	webUrl,
} from './foreign-fields.ts';
import {type DashboardColumns, type Mapping, namesIn, namesOf, withScheme} from './mapping.ts';

/** Of the export of its dashboard. */
export const bitlyColumns: DashboardColumns = {
	link: ['link', withScheme],
	'custom link': ['custom_bitlinks', (cell) => namesIn(cell).map(withScheme)],
	'destination url': ['long_url'],
	'long url': ['long_url'],
	title: ['title'],
	tags: ['tags', namesIn],
	created: ['created_at'],
	'date created': ['created_at'],
	archived: ['archived'],
};

/** A custom back-half is the address in print; its domain is also the one that can move here. */
const addressesOf = (row: ForeignRow): [first: string | undefined, ...others: string[]] => {
	const id = textIn(row['id']);
	const own = textIn(row['link']) ?? (id === undefined ? [] : `https://${id}`);
	const [first, ...others] = textsIn(row['custom_bitlinks']).concat(own);
	return [first === undefined || first.includes('://') ? first : `https://${first}`, ...others];
};

const longUrl = (row: ForeignRow): URL => webUrl(textIn(row['long_url']), 'long_url');
const deepLinksOf = ({deeplinks}: ForeignRow) => (Array.isArray(deeplinks) ? deeplinks.filter(isObject) : []);
const appPathsOf = (row: ForeignRow): string[] => [
	...new Set(deepLinksOf(row).flatMap((one) => textIn(one['app_uri_path']) ?? [])),
];

/** An object of Bitly's API v4. */
export const bitly: Mapping = {
	address: (row) => webUrl(addressesOf(row)[0], 'link'),
	path: [
		'long_url',
		(row) => {
			const [appPath] = appPathsOf(row);
			const app = appPath === undefined ? {fields: {}} : deepLinkOf(appPath);
			return {...app, fields: {...destinationOf(longUrl(row)), ...app.fields}};
		},
	],
	fields: {
		title: 'title',
		tags: ['tags', (row) => textsIn(row['tags'])],
		fallbackUrl: ['long_url', (row) => longUrl(row).href],
		expiry: ['expiration_at', (row) => isoTime(row['expiration_at'])],
	},
	inactive: ({archived, is_deleted}) => ({archived, is_deleted}),
	apps: (row) => deepLinksOf(row).flatMap((one) => storeClaims(textIn(one['install_url'])) ?? []),
	left: (row) => {
		const customs = textsIn(row['custom_bitlinks']).length;
		return {
			'the code of link beside the custom one': customs > 0 && addressesOf(row).length > customs,
			'further custom_bitlinks': customs > 1,
			'further app_uri_path': appPathsOf(row).slice(1),
			campaign_ids: row['campaign_ids'],
		};
	},
};

/** Of the export of its dashboard. */
export const dubColumns: DashboardColumns = {
	'short link': ['shortLink', withScheme],
	'destination url': ['url'],
	title: ['title'],
	tags: ['tags', namesIn],
	archived: ['archived'],
	'link id': ['id'],
	'created at': ['createdAt'],
	'updated at': ['updatedAt'],
	clicks: ['clicks'],
};

/** Dub's key for the page of a domain itself. */
const ROOT_KEY = '_root';

/** The short URL, or its domain and key. */
const shortUrlOf = (row: ForeignRow): URL => {
	const [key, domain, whole] = [textIn(row['key']), textIn(row['domain']), textIn(row['shortLink'])];
	if (key === ROOT_KEY) {
		throw new UnusableRow(`key '${ROOT_KEY}' is the page of the domain itself, which is not a link in Oplink`);
	}

	if (key === undefined && whole === undefined) {
		throw new UnusableRow('has no key');
	}

	return key === undefined || (domain === undefined && whole !== undefined)
		? webUrl(whole, 'shortLink')
		: webUrl(`https://${domain ?? NO_HOST}/${key}`, 'short link');
};

const destinationUrl = (row: ForeignRow): URL => {
	if (textIn(row['password']) !== undefined) {
		throw new UnusableRow('is protected by a password, which Oplink does not support; imported, it would be public');
	}

	return webUrl(textIn(row['url']), 'url');
};

const tagsOf = ({tags}: ForeignRow): string[] =>
	Array.isArray(tags) ? tags.flatMap((tag) => textIn(isObject(tag) ? tag['name'] : tag) ?? []) : [];

/** An object of Dub's API. */
export const dub: Mapping = {
	address: shortUrlOf,
	path: ['url', (row) => ({fields: destinationOf(destinationUrl(row))})],
	fields: {
		...utmNames,
		externalId: 'externalId',
		title: 'title',
		'og.title': 'title',
		'og.description': 'description',
		'og.imageUrl': 'image',
		tags: ['tags', tagsOf],
		fallbackUrl: ['url', (row) => destinationUrl(row).href],
		expiry: ['expiresAt', (row) => isoTime(row['expiresAt'])],
	},
	destinations: {ios: 'ios', android: 'android'},
	inactive: ({archived, disabledAt}) => ({archived, disabledAt: textIn(disabledAt) !== undefined}),
	left: ({expiredUrl, geo, rewrite, comments, testVariants}) => ({expiredUrl, geo, rewrite, comments, testVariants}),
};

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
