export type AppleApp = {orgKey: string; teamId: string; bundleId: string};
export type AndroidApp = {packageName: string; sha256Fingerprints: string[]};

type AppleAssociation = {
	applinks: {details: Array<{appIDs: string[]; components: Array<{'/': string}>}>};
};

type AssetLink = {
	relation: ['delegate_permission/common.handle_all_urls'];
	target: {namespace: 'android_app'; package_name: string; sha256_cert_fingerprints: string[]};
};

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * `apple-app-site-association` of one host, in the format of iOS 13 and later (facts on providers 6.1). On the default
 * domain each app opens the paths under its organization's key; on a custom domain, where bare codes resolve as well,
 * every path. No `webcredentials` and no `appclips`: those are not scoped to paths, and the host is shared.
 */
export const appleAppSiteAssociation = (
	apps: readonly AppleApp[],
	{customDomain = false}: {customDomain?: boolean} = {},
): AppleAssociation => ({
	applinks: {
		details: apps
			// A stable order, so that an unchanged configuration is an unchanged file to Apple's cache.
			.toSorted((a, b) => byText(a.orgKey, b.orgKey) || byText(a.bundleId, b.bundleId))
			.map(({orgKey, teamId, bundleId}) => ({
				appIDs: [`${teamId}.${bundleId}`],
				components: [{'/': customDomain ? '/*' : `/${orgKey}/*`}],
			})),
	},
});

/**
 * `assetlinks.json` of one host: one statement per package, with the fingerprints that all its rows name (facts on
 * providers 6.2). A package without a fingerprint is left out, because a statement without one verifies nothing.
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
