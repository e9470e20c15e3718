import {type DashboardColumns, namesIn, withScheme} from './dashboard-csv.ts';
import {
	copiedFields,
	destinationOf,
	type ForeignLink,
	foreignLink,
	isoTime,
	placesOf,
	shortAddress,
	textIn,
	UnusableRow,
	utmNames,
	webUrl,
} from './foreign-fields.ts';
import {isObject} from './import-row.ts';
import {inactiveIf} from './inactive-if.ts';

const copied: Record<string, string> = {
	...utmNames,
	externalId: 'externalId',
	title: 'title',
	'og.title': 'title',
	'og.description': 'description',
	'og.imageUrl': 'image',
};

/** The source of each link field. */
export const dubNames: Record<string, string> = {
	...copied,
	path: 'url',
	params: 'url',
	fallbackUrl: 'url',
	expiry: 'expiresAt',
	'destinations.ios': 'ios',
	'destinations.android': 'android',
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
const shortUrlOf = (row: Record<string, unknown>): URL => {
	const key = textIn(row['key']);
	const whole = textIn(row['shortLink']);
	if (key === ROOT_KEY) {
		throw new UnusableRow(`key '${ROOT_KEY}' is the page of the domain itself, which is not a link in Oplink`);
	}

	if (key === undefined && whole === undefined) {
		throw new UnusableRow('has no key');
	}

	// Do not reject a key because of a missing domain.
	return key === undefined
		? webUrl(whole, 'shortLink')
		: webUrl(`https://${textIn(row['domain']) ?? 'domain.invalid'}/${key}`, 'short link');
};

const tagsOf = (value: unknown): string[] =>
	Array.isArray(value) ? value.flatMap((tag) => textIn(isObject(tag) ? tag['name'] : tag) ?? []) : [];

const isDisabled = (row: Record<string, unknown>): boolean => textIn(row['disabledAt']) !== undefined;

/** Converts an object of Dub's API to a link. @throws UnusableRow. */
export const dubLink = (row: Record<string, unknown>): ForeignLink => {
	const {shortCode, host, prefix} = shortAddress(shortUrlOf(row));
	if (textIn(row['password']) !== undefined) {
		throw new UnusableRow('is protected by a password, which Oplink does not support; imported, it would be public');
	}

	const url = webUrl(textIn(row['url']), 'url');
	const places = placesOf([
		['ios', 'ios', row['ios']],
		['android', 'android', row['android']],
	]);
	const hasDomain = textIn(row['domain']) !== undefined || textIn(row['shortLink']) !== undefined;
	return foreignLink({
		link: {
			...destinationOf(url),
			...copiedFields(row, copied),
			shortCode,
			tags: tagsOf(row['tags']),
			fallbackUrl: url.href,
			destinations: places.destinations,
			expiry: isoTime(textIn(row['expiresAt'])),
			...inactiveIf({archived: row['archived'], disabledAt: isDisabled(row)}),
		},
		address: {host: hasDomain ? host : null, prefix},
		apps: places.claims,
		left: {
			...places.left,
			expiredUrl: row['expiredUrl'],
			geo: row['geo'],
			rewrite: row['rewrite'],
			comments: row['comments'],
			testVariants: row['testVariants'],
		},
	});
};
