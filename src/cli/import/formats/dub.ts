import {
	appClaims,
	destinationOf,
	type ForeignLink,
	isoTime,
	placesOf,
	presentFields,
	presentNames,
	shortAddress,
	textIn,
	UnusableRow,
	utmIn,
	webUrl,
} from './foreign-fields.ts';
import {isObject} from './import-row.ts';

/** The source of each link field. */
export const dubNames: Record<string, string> = {
	path: 'url',
	params: 'url',
	fallbackUrl: 'url',
	'og.title': 'title',
	'og.description': 'description',
	'og.imageUrl': 'image',
	expiry: 'expiresAt',
	'destinations.ios': 'ios',
	'destinations.android': 'android',
	utmSource: 'utm_source',
	utmMedium: 'utm_medium',
	utmCampaign: 'utm_campaign',
	utmTerm: 'utm_term',
	utmContent: 'utm_content',
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

const isOff = (row: Record<string, unknown>): boolean =>
	row['archived'] === true || textIn(row['disabledAt']) !== undefined;

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
	return {
		link: presentFields({
			...destinationOf(url),
			...utmIn(row),
			shortCode,
			externalId: textIn(row['externalId']),
			title: textIn(row['title']),
			tags: tagsOf(row['tags']),
			fallbackUrl: url.href,
			destinations: places.destinations,
			og: presentFields({
				title: textIn(row['title']),
				description: textIn(row['description']),
				imageUrl: textIn(row['image']),
			}),
			expiry: isoTime(textIn(row['expiresAt'])),
			isActive: isOff(row) ? false : undefined,
		}),
		facts: {
			host: textIn(row['domain']) === undefined && textIn(row['shortLink']) === undefined ? null : host,
			prefix,
			apps: appClaims(places.claims),
			left: presentNames({
				...places.left,
				expiredUrl: row['expiredUrl'],
				geo: row['geo'],
				rewrite: row['rewrite'],
				comments: row['comments'],
				testVariants: row['testVariants'],
			}),
		},
	};
};
