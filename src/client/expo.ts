/** One data element of an intent filter. */
type FilterData = {scheme?: string; host?: string; pathPrefix?: string};
/** The parts of an intent filter that the plugin reads or writes. */
type IntentFilter = {
	action: string;
	autoVerify?: boolean;
	data?: FilterData | FilterData[];
	category?: string | string[];
};
/** The parts of an Expo configuration that the plugin reads or writes, and names that each has. */
export type ExpoConfig = {
	name?: string;
	scheme?: string | string[];
	ios?: {bundleIdentifier?: string; associatedDomains?: string[]};
	android?: {package?: string; intentFilters?: IntentFilter[]};
};

export type OplinkPlugin = {
	/** Where your links are: `go.example.com` for a domain of yours, `links.example.com/AbCd` for your part of a shared one. */
	links: string[];
	/** The app's own scheme, without `://`. */
	scheme?: string;
	/** Domains of an App Clip, which are custom domains. */
	appClips?: string[];
};

const listOf = <T>(value: T | T[] | undefined): T[] =>
	value === undefined ? [] : Array.isArray(value) ? value : [value];

/** The values, without those that are there: a second run adds nothing. */
const merged = <T>(existing: T[], added: T[]): T[] => [
	...existing,
	...added.filter(
		(one, index) =>
			![...existing, ...added.slice(0, index)].some((other) => JSON.stringify(other) === JSON.stringify(one)),
	),
];

/** @throws TypeError for anything but a host, or a host with an orgKey. */
const partsOf = (link: string): {host: string; path: string | undefined} => {
	const [, host, path] = /^(?:https:\/\/)?([^/:?#@\s]+)(?:\/([A-Za-z0-9]{4}))?\/?$/.exec(link) ?? [];
	if (!host?.slice(1, -1).includes('.')) {
		throw new TypeError(
			`oplink/expo: links must be hosts, such as go.example.com or links.example.com/AbCd, not '${link}'`,
		);
	}

	return {host: host.toLowerCase(), path};
};

/** Android combines the data elements of one filter, so each host has its own. */
const filterOf = ({host, path}: {host: string; path: string | undefined}): IntentFilter => ({
	action: 'VIEW',
	autoVerify: true,
	data: [{scheme: 'https', host, ...(path === undefined ? {} : {pathPrefix: `/${path}/`})}],
	category: ['DEFAULT', 'BROWSABLE'],
});

/**
 * A config plugin of Expo: the app opens links of these hosts and its own scheme. Existing values stay.
 * @throws TypeError for settings that cannot work, so that a build fails instead of a link.
 */
export const withOplink = <Config extends ExpoConfig>(
	config: Config,
	{links, scheme, appClips = []}: OplinkPlugin,
): Config => {
	if (!links?.length) {
		throw new TypeError('oplink/expo: links must name at least one host');
	}

	const hosts = links.map(partsOf);
	const domains = [...hosts.map(({host}) => `applinks:${host}`), ...appClips.map((host) => `appclips:${host}`)];
	const schemes = merged(listOf(config.scheme), listOf(scheme));
	return {
		...config,
		...(schemes.length === 0 ? {} : {scheme: schemes.length === 1 ? schemes[0] : schemes}),
		ios: {...config.ios, associatedDomains: merged(listOf(config.ios?.associatedDomains), domains)},
		android: {
			...config.android,
			intentFilters: merged(listOf(config.android?.intentFilters), hosts.map(filterOf)),
		},
	};
};

// biome-ignore lint/style/noDefaultExport: Expo loads a plugin by its default export.
export default withOplink;
