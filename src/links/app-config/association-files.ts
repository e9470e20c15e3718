export type AppleApp = {orgKey: string; teamId: string; bundleId: string};
/** An Apple app in the file of a custom domain, which has further fields. */
export type CustomDomainAppleApp = AppleApp & {appClipBundleId?: string | null; browserPaths?: string[]};
export type AndroidApp = {
	orgKey: string;
	packageName: string;
	sha256Fingerprints: string[];
	dynamicAppLinks?: boolean;
	browserPaths?: string[];
};

/** A rule for paths, in both systems: the first that matches decides; a path that matches no rule is excluded. */
type Component = {'/': string; exclude?: true};

/** Google's name of the relation in which an app opens a host's links. */
export const RELATION = 'delegate_permission/common.handle_all_urls';

/** Apple reads no more of the file. Beyond this size every link of the host breaks (contract/resolution 9). */
export const APPLE_LIMIT_BYTES = 131_072;

/** The share of the shared domain's file for all organizations on the free plan together. */
export const FREE_PLAN_BYTES = APPLE_LIMIT_BYTES / 2;

/** The doctor warns from this size on. */
export const APPLE_WARNING_BYTES = APPLE_LIMIT_BYTES * 0.8;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const excluded = (paths: readonly string[] = []): Component[] => paths.map((path) => ({'/': path, exclude: true}));

const appleEntry = ({orgKey, teamId, bundleId, browserPaths}: CustomDomainAppleApp, customDomain: boolean) => ({
	appIDs: [`${teamId}.${bundleId}`],
	components: customDomain ? [...excluded(browserPaths), {'/': '/*'}] : [{'/': `/${orgKey}/*`}],
});

const clipIds = (apps: readonly CustomDomainAppleApp[]): string[] =>
	apps.flatMap(({teamId, appClipBundleId: clip}) => (clip == null ? [] : [`${teamId}.${clip}`]));

/**
 * `apple-app-site-association` of one host, in the format of iOS 13 and later (contract/resolution 9). On the shared
 * link domain each app opens the paths under its organization's key. On a custom domain it opens every path, because
 * bare codes resolve there, except those of `browserPaths`. The shared link domain has no `appclips`, and no host has
 * `webcredentials`: they cannot be limited to paths, and the host is shared.
 */
export const appleAppSiteAssociation = (
	apps: readonly CustomDomainAppleApp[],
	{customDomain = false}: {customDomain?: boolean} = {},
) => {
	const clips = customDomain ? clipIds(apps) : [];
	return {
		applinks: {
			details: apps
				// A stable order: the file of an unchanged configuration stays the same in Apple's cache.
				.toSorted((a, b) => byText(a.orgKey, b.orgKey) || byText(a.bundleId, b.bundleId))
				.map((app) => appleEntry(app, customDomain)),
		},
		...(clips.length === 0 ? {} : {appclips: {apps: clips}}),
	};
};

/** Bytes of an app's entry in the shared domain's file, with the comma. */
export const entryBytes = (app: AppleApp): number => Buffer.byteLength(JSON.stringify(appleEntry(app, false))) + 1;

/** The shortest possible entry without its bundle id. */
export const MIN_ENTRY_BYTES = entryBytes({orgKey: 'AAAA', teamId: 'AAAAAAAAAA', bundleId: ''});

const EMPTY_FILE_BYTES = Buffer.byteLength(JSON.stringify(appleAppSiteAssociation([])));

/** Size of the shared domain's file with these apps, at most one byte too high. */
export const fileBytes = (apps: readonly AppleApp[]): number =>
	apps.reduce((sum, app) => sum + entryBytes(app), EMPTY_FILE_BYTES);

/**
 * Android's rules for a package (contract/resolution 11): none unless one of its apps has `dynamicAppLinks`. A package
 * has one list per host, so on the shared link domain the list has the paths of every organization that configures the
 * package: otherwise the switch of one would keep the links of another from opening.
 */
const rulesOf = (apps: readonly AndroidApp[], customDomain: boolean): Component[] => {
	if (!apps.some(({dynamicAppLinks}) => dynamicAppLinks)) {
		return [];
	}

	return customDomain
		? [...excluded([...apps.flatMap(({browserPaths = []}) => browserPaths), '*/data', '*/signals']), {'/': '*'}]
		: [...new Set(apps.map(({orgKey}) => orgKey))].toSorted(byText).map((orgKey) => ({'/': `/${orgKey}/*`}));
};

/**
 * `assetlinks.json` of one host: one statement per package, with the fingerprints from all its rows
 * (contract/resolution 9). Omits a package without a fingerprint, because its statement would verify nothing.
 */
export const assetLinks = (apps: readonly AndroidApp[], {customDomain = false}: {customDomain?: boolean} = {}) => {
	const packages = new Map<string, AndroidApp[]>();
	for (const app of apps) {
		const known = packages.get(app.packageName) ?? [];
		known.push(app);
		packages.set(app.packageName, known);
	}

	return [...packages]
		.toSorted(([a], [b]) => byText(a, b))
		.map(([packageName, rows]) => {
			const prints = rows.flatMap(({sha256Fingerprints}) => sha256Fingerprints.map((print) => print.toUpperCase()));
			const components = rulesOf(rows, customDomain);
			return {
				relation: [RELATION],
				target: {
					namespace: 'android_app',
					package_name: packageName,
					sha256_cert_fingerprints: [...new Set(prints)].toSorted(),
				},
				...(components.length === 0
					? {}
					: {relation_extensions: {[RELATION]: {dynamic_app_link_components: components}}}),
			};
		})
		.filter(({target}) => target.sha256_cert_fingerprints.length > 0);
};
