export type AppleApp = {orgKey: string; teamId: string; bundleId: string};
export type AndroidApp = {packageName: string; sha256Fingerprints: string[]};

type AppleAssociation = {
	applinks: {details: Array<{appIDs: string[]; components: Array<{'/': string}>}>};
};

type AssetLink = {
	relation: ['delegate_permission/common.handle_all_urls'];
	target: {namespace: 'android_app'; package_name: string; sha256_cert_fingerprints: string[]};
};

/** Apple reads no more of the file. Beyond this size every link of the host breaks (contract/resolution 9). */
export const APPLE_LIMIT_BYTES = 131_072;

/** The share of the shared domain's file for all organizations on the free plan together. */
export const FREE_PLAN_BYTES = APPLE_LIMIT_BYTES / 2;

/** The operator is warned from this size on. */
export const APPLE_WARNING_BYTES = APPLE_LIMIT_BYTES * 0.8;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const appleEntry = ({orgKey, teamId, bundleId}: AppleApp, customDomain: boolean) => ({
	appIDs: [`${teamId}.${bundleId}`],
	components: [{'/': customDomain ? '/*' : `/${orgKey}/*`}],
});

/**
 * `apple-app-site-association` of one host, in the format of iOS 13 and later (contract/resolution 9). On the default
 * domain each app opens the paths under its organization's key. On a custom domain it opens every path, because bare
 * codes resolve there. `webcredentials` and `appclips` are absent: they cannot be limited to paths, and the host is
 * shared.
 */
export const appleAppSiteAssociation = (
	apps: readonly AppleApp[],
	{customDomain = false}: {customDomain?: boolean} = {},
): AppleAssociation => ({
	applinks: {
		details: apps
			// A stable order, so that the file of an unchanged configuration does not change in Apple's cache.
			.toSorted((a, b) => byText(a.orgKey, b.orgKey) || byText(a.bundleId, b.bundleId))
			.map((app) => appleEntry(app, customDomain)),
	},
});

/** Bytes of an app's entry in the shared domain's file, with the comma. */
export const entryBytes = (app: AppleApp): number => Buffer.byteLength(JSON.stringify(appleEntry(app, false))) + 1;

/** The shortest possible entry without its bundle id. */
export const LEAST_ENTRY_BYTES = entryBytes({orgKey: 'AAAA', teamId: 'AAAAAAAAAA', bundleId: ''});

const EMPTY_FILE_BYTES = Buffer.byteLength(JSON.stringify(appleAppSiteAssociation([])));

/** Size of the shared domain's file with these apps, at most one byte too high. */
export const fileBytes = (apps: readonly AppleApp[]): number =>
	apps.reduce((sum, app) => sum + entryBytes(app), EMPTY_FILE_BYTES);

/**
 * `assetlinks.json` of one host: one statement per package, with the fingerprints from all its rows
 * (contract/resolution 9). A package without a fingerprint is left out, because its statement would verify nothing.
 */
export const assetLinks = (apps: readonly AndroidApp[]): AssetLink[] => {
	const fingerprints = new Map<string, Set<string>>();
	for (const {packageName, sha256Fingerprints} of apps) {
		const known = fingerprints.get(packageName) ?? [];
		fingerprints.set(packageName, new Set([...known, ...sha256Fingerprints.map((print) => print.toUpperCase())]));
	}

	return [...fingerprints]
		.filter(([, prints]) => prints.size > 0)
		.toSorted(([a], [b]) => byText(a, b))
		.map(([packageName, prints]) => ({
			relation: ['delegate_permission/common.handle_all_urls'],
			target: {namespace: 'android_app', package_name: packageName, sha256_cert_fingerprints: [...prints].toSorted()},
		}));
};
