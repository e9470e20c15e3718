import {type DashboardColumns, namesIn, withScheme} from './dashboard-csv.ts';
import {
	deepLinkOf,
	destinationOf,
	type ForeignLink,
	foreignLink,
	isoTime,
	shortAddress,
	storeClaims,
	textIn,
	textsIn,
	webUrl,
} from './foreign-fields.ts';
import {isObject} from './import-row.ts';
import {inactiveIf} from './inactive-if.ts';

/** The source of each link field. */
export const bitlyNames: Record<string, string> = {
	path: 'long_url',
	params: 'long_url',
	fallbackUrl: 'long_url',
	expiry: 'expiration_at',
};

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

/** Converts an object of Bitly's API v4 to a link. @throws UnusableRow. */
export const bitlyLink = (row: Record<string, unknown>): ForeignLink => {
	const [custom, ...furtherCustom] = textsIn(row['custom_bitlinks']);
	const id = textIn(row['id']);
	const ownUrl = textIn(row['link']) ?? (id === undefined ? undefined : `https://${id}`);
	// A custom back-half is the one in print; its domain is also the one that can move here.
	const address = custom ?? ownUrl;
	const {shortCode, ...old} = shortAddress(
		webUrl(address === undefined || address.includes('://') ? address : `https://${address}`, 'link'),
	);
	const longUrl = webUrl(textIn(row['long_url']), 'long_url');
	const deepLinks = Array.isArray(row['deeplinks']) ? row['deeplinks'].filter(isObject) : [];
	const [appPath, ...furtherPaths] = new Set(deepLinks.flatMap((one) => textIn(one['app_uri_path']) ?? []));
	const app = appPath === undefined ? null : deepLinkOf(appPath);
	const stores = deepLinks.flatMap((one) => storeClaims(textIn(one['install_url'])) ?? []);
	return foreignLink({
		link: {
			...destinationOf(longUrl),
			...app?.fields,
			shortCode,
			title: textIn(row['title']),
			tags: textsIn(row['tags']),
			fallbackUrl: longUrl.href,
			expiry: isoTime(textIn(row['expiration_at'])),
			...inactiveIf({archived: row['archived'], is_deleted: row['is_deleted']}),
		},
		address: old,
		apps: {
			appStoreIds: stores.flatMap(({appStoreIds = []}) => appStoreIds),
			packageNames: stores.flatMap(({packageNames = []}) => packageNames),
			schemes: app?.schemes ?? [],
		},
		left: {
			'the code of link beside the custom one': custom !== undefined && ownUrl !== undefined,
			'further custom_bitlinks': furtherCustom,
			'further app_uri_path': furtherPaths,
			campaign_ids: row['campaign_ids'],
		},
	});
};
