import {
	destinationOf,
	type ForeignRow,
	isoTime,
	NO_HOST,
	textIn,
	UnusableRow,
	utmNames,
	webUrl,
} from './foreign-fields.ts';
import {type DashboardColumns, namesIn, withScheme} from './foreign-rows.ts';
import {isObject} from './import-row.ts';
import type {Mapping} from './mapping.ts';

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
