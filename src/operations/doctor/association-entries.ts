import {RELATION} from '../../links/app-config/association-files.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * The paths that a list of rules opens, in order, each with the earlier exclusions that limit it: `/*` or
 * `/* except /help/*`. In both systems the first rule that matches decides, and no match excludes a path.
 */
const openedPaths = (rules: unknown): string[] => {
	const exclusions: string[] = [];
	return listOf(rules).flatMap((rule) => {
		const {'/': path, exclude} = fieldsOf(rule);
		if (exclude === true) {
			exclusions.push(String(path));
			return [];
		}

		return [exclusions.length === 0 ? String(path) : `${path} except ${exclusions.join(', ')}`];
	});
};

/**
 * The entries of an apple-app-site-association, one line per app and opened path, such as
 * `TEAM123456.com.acme.app /Ab12/*`, and one per App Clip.
 */
export const appleEntries = (file: unknown): string[] => {
	const {applinks, appclips} = fieldsOf(file);
	const links = listOf(fieldsOf(applinks)['details']).flatMap((detail) => {
		const {appIDs, components} = fieldsOf(detail);
		return listOf(appIDs).flatMap((app) => openedPaths(components).map((path) => `${app} ${path}`));
	});
	return [...links, ...listOf(fieldsOf(appclips)['apps']).map((app) => `${app} as an App Clip`)];
};

/** The entries of an assetlinks.json, one line per app and fingerprint, and one per app and path that its rules open. */
export const androidEntries = (file: unknown): string[] =>
	listOf(file).flatMap((statement) => {
		const {target, relation_extensions: extensions} = fieldsOf(statement);
		const {package_name: name, sha256_cert_fingerprints: fingerprints} = fieldsOf(target);
		const rules = fieldsOf(fieldsOf(extensions)[RELATION])['dynamic_app_link_components'];
		return [
			...listOf(fingerprints).map((fingerprint) => `${name} ${fingerprint}`),
			...openedPaths(rules).map((path) => `${name} opens ${path}`),
		];
	});
