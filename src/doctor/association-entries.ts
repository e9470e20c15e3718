/** Foreign JSON of any type, as an object whose fields can be read. */
const fieldsOf = (value: unknown): Record<string, unknown> =>
	typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/**
 * The entries of an apple-app-site-association, one line per app and path, such as `TEAM123456.com.acme.app /Ab12/*`.
 */
export const appleEntries = (file: unknown): string[] =>
	listOf(fieldsOf(fieldsOf(file)['applinks'])['details']).flatMap((detail) => {
		const {appIDs, components} = fieldsOf(detail);
		return listOf(appIDs).flatMap((app) => listOf(components).map((path) => `${app} ${fieldsOf(path)['/']}`));
	});

/** The entries of an assetlinks.json, one line per app and fingerprint. */
export const androidEntries = (file: unknown): string[] =>
	listOf(file).flatMap((statement) => {
		const {package_name: name, sha256_cert_fingerprints: fingerprints} = fieldsOf(fieldsOf(statement)['target']);
		return listOf(fingerprints).map((fingerprint) => `${name} ${fingerprint}`);
	});
