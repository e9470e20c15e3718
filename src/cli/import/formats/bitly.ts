import {
	deepLinkOf,
	destinationOf,
	type ForeignRow,
	isoTime,
	storeClaims,
	textIn,
	textsIn,
	webUrl,
} from './foreign-fields.ts';
import {type DashboardColumns, namesIn, withScheme} from './foreign-rows.ts';
import {isObject} from './import-row.ts';
import type {Mapping} from './mapping.ts';

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
	apps: (row) => {
		const stores = deepLinksOf(row).flatMap((one) => storeClaims(textIn(one['install_url'])) ?? []);
		return {
			appStoreIds: stores.flatMap(({appStoreIds = []}) => appStoreIds),
			packageNames: stores.flatMap(({packageNames = []}) => packageNames),
		};
	},
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
