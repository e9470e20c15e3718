/** Whatever somebody else's JSON is, as something whose fields can be looked at. */
const fieldsOf = (value: unknown): Record<string, unknown> =>
	typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** What an apple-app-site-association says, a line per app and path, such as `TEAM123456.com.acme.app /Ab12/*`. */
export const appleEntries = (file: unknown): string[] =>
	listOf(fieldsOf(fieldsOf(file)['applinks'])['details']).flatMap((detail) => {
		const {appIDs, components} = fieldsOf(detail);
		return listOf(appIDs).flatMap((app) => listOf(components).map((path) => `${app} ${fieldsOf(path)['/']}`));
	});

/** What an assetlinks.json says, a line per app and fingerprint. */
export const androidEntries = (file: unknown): string[] =>
	listOf(file).flatMap((statement) => {
		const {package_name: name, sha256_cert_fingerprints: fingerprints} = fieldsOf(fieldsOf(statement)['target']);
		return listOf(fingerprints).map((fingerprint) => `${name} ${fingerprint}`);
	});
