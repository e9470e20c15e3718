import type {AppClaims} from './import-row.ts';

/** The apps of an organization's configuration that rows can name. */
export type OwnApps = {
	ios: {bundleId: string | null; appStoreId: string | null; scheme: string | null} | null;
	android: Array<{packageName: string; scheme: string | null}>;
};

const present = (...values: Array<string | null | undefined>): string[] => values.flatMap((value) => value ?? []);

/**
 * The fault of a row that names foreign apps. A link opens the configured apps whichever the row names, so a row of
 * another app would lead people to the wrong one.
 */
export const foreignApps = (claims: AppClaims, own: OwnApps): Array<{what: string; value: string; own: string[]}> => {
	const schemes = present(own.ios?.scheme, ...own.android.map(({scheme}) => scheme));
	const kinds = [
		{what: 'iOS bundle id', values: claims.bundleIds, own: present(own.ios?.bundleId)},
		{what: 'App Store id', values: claims.appStoreIds, own: present(own.ios?.appStoreId)},
		{what: 'Android package', values: claims.packageNames, own: own.android.map(({packageName}) => packageName)},
		{what: 'custom scheme', values: claims.schemes, own: schemes},
	];
	return kinds.flatMap(({what, values, own: known}) =>
		values
			.filter((value) => !known.some((one) => one.toLowerCase() === value.toLowerCase()))
			.map((value) => ({what, value, own: known})),
	);
};
