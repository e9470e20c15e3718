import {linkFields} from '../../../links/links/link-fields.ts';
import {isTooDeep} from '../../../platform/http/storable.ts';
import {parseJson} from '../../../platform/http/untrusted-json.ts';
import {
	deepLinkOf,
	type ForeignLink,
	foreignLink,
	placesOf,
	shortAddress,
	textIn,
	textsIn,
	UnusableRow,
	webUrl,
} from './foreign-fields.ts';
import {isObject} from './import-row.ts';

/** The source of each link field. */
export const branchNames: Record<string, string> = {
	path: 'data.$deeplink_path',
	params: 'data',
	fallbackUrl: 'data.$fallback_url, $desktop_url or $canonical_url',
	'destinations.ios': 'data.$ios_url',
	'destinations.ipad': 'data.$ipad_url',
	'destinations.android': 'data.$android_url',
	'destinations.desktop': 'data.$desktop_url',
	title: 'data.$marketing_title or $og_title',
	'og.title': 'data.$og_title',
	'og.description': 'data.$og_description',
	'og.imageUrl': 'data.$og_image_url',
	utmSource: 'channel',
	utmMedium: 'feature',
	utmCampaign: 'campaign',
};

/** Control parameters with a field here; others are reported as not carried over. */
const carried = new Set([
	'$match_duration',
	...Object.values(branchNames).flatMap((source) => source.match(/\$\w+/g) ?? []),
]);

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

/** The link's own values for the app. Other types become JSON, because `params` hold texts. */
const paramsOf = (data: Record<string, unknown>): Record<string, string> =>
	Object.fromEntries(
		Object.entries(data)
			.filter(([name, value]) => !/^[$~+]/.test(name) && value !== null && name !== 'url')
			.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
	);

/** Seconds as whole hours within a link's range (contract/links 1). */
const windowHours = (seconds: string | undefined): number | undefined => {
	const hours = Math.ceil(Number(seconds) / 3600);
	return seconds === undefined || !(hours > 0) ? undefined : Math.min(hours, linkFields.matchWindowHours.max);
};

/** Converts an object of Branch's deep linking API to a link. @throws UnusableRow. */
export const branchLink = (row: Record<string, unknown>): ForeignLink => {
	const data = dataOf(row['data']);
	const control = (name: string) => textIn(data[`$${name}`]);
	/** Analytics labels stand beside the dictionary; the API also reads them within it. */
	const label = (name: string) => textIn(row[name]) ?? textIn(data[`~${name}`]);
	const url = webUrl(textIn(row['url']) ?? textIn(data['+url']) ?? textIn(data['url']), 'url');
	const alias = textIn(row['alias']);
	const {shortCode, ...old} = shortAddress(
		alias === undefined ? url : webUrl(`${url.origin}/${alias.replace(/^\/+/, '')}`, 'alias'),
	);
	const desktop = control('desktop_url');
	const places = placesOf(
		[
			['ios', '$ios_url', control('ios_url')],
			['ipad', '$ipad_url', control('ipad_url')],
			['android', '$android_url', control('android_url')],
		],
		desktop,
	);
	const {fields, schemes} = deepLinkOf(control('deeplink_path') ?? '/');
	const others = Object.fromEntries(
		Object.entries(data).filter(([name]) => name.startsWith('$') && !carried.has(name)),
	);
	return foreignLink({
		link: {
			...fields,
			params: {...(fields['params'] as object | undefined), ...paramsOf(data)},
			shortCode,
			title: control('marketing_title') ?? control('og_title'),
			tags: textsIn(row['tags'] ?? data['~tags']),
			channel: label('channel'),
			utmSource: label('channel'),
			utmMedium: label('feature'),
			utmCampaign: label('campaign'),
			fallbackUrl: control('fallback_url') ?? desktop ?? control('canonical_url'),
			destinations: places.destinations,
			'og.title': control('og_title'),
			'og.description': control('og_description'),
			'og.imageUrl': control('og_image_url'),
			matchWindowHours: windowHours(textIn(row['duration']) ?? control('match_duration')),
		},
		address: old,
		apps: {...places.claims, schemes},
		left: {
			'one-time use': row['type'] === 1 && data['$one_time_use'] !== true,
			stage: label('stage'),
			"the url's own code beside the alias": alias !== undefined && url.pathname !== `/${shortCode}`,
			...places.left,
			...others,
		},
	});
};
