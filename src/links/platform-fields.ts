/** Where people without the app go, by platform (contract/links 12). A platform that is not set is absent. */
export type Destinations = {ios?: string; ipad?: string; android?: string; desktop?: string};

/** The least version of the app that opens a link (contract/links 13): dotted numbers, and a version code. */
export type MinimumVersion = {ios?: string; android?: number};

/** The same in a body: absent fields stay unchanged, null clears. */
type Changes<T> = {[Field in keyof T]: T[Field] | null};

/** The fields as answers have them: absent if nobody has set them, so that answers stay as they were. */
export type PlatformFields = {destinations?: Destinations; minimumVersion?: MinimumVersion};
export type PlatformInput = {
	destinations?: Changes<Destinations> | null | undefined;
	minimumVersion?: Changes<MinimumVersion> | null | undefined;
};

/** Their columns, by the same names in `links`, `templates` and `app_configs`. */
export type PlatformColumns = {destinations: Destinations | null; minimum_version: MinimumVersion | null};

/** Their names in the API, in the order of jsonb, so that answers have them in one order. */
export const platformFieldNames = {
	destinations: ['ios', 'ipad', 'android', 'desktop'],
	minimumVersion: ['ios', 'android'],
} as const satisfies {[Field in keyof PlatformFields]: unknown};

/** The object after the changes; undefined changes nothing, null clears all. Null if nothing remains. */
const changed = <T extends object>(
	names: ReadonlyArray<keyof T & string>,
	before: T | null,
	changes: Changes<T> | null | undefined,
): T | null => {
	const after: Partial<Changes<T>> = changes === null ? {} : {...before, ...changes};
	const entries = names.flatMap((name) => (after[name] == null ? [] : [[name, after[name]]]));
	return entries.length === 0 ? null : (Object.fromEntries(entries) as T);
};

const unset: PlatformColumns = {destinations: null, minimum_version: null};

/** The columns after an input. @param before null for a new row. */
export const platformColumns = (
	{destinations, minimumVersion}: PlatformInput,
	before: PlatformColumns | null = null,
): PlatformColumns => {
	const row = before ?? unset;
	return {
		destinations: changed(platformFieldNames.destinations, row.destinations, destinations),
		minimum_version: changed(platformFieldNames.minimumVersion, row.minimum_version, minimumVersion),
	};
};

/** The fields of a row. */
export const platformFieldsOf = ({destinations, minimum_version: minimumVersion}: PlatformColumns): PlatformFields => ({
	...(destinations === null ? {} : {destinations}),
	...(minimumVersion === null ? {} : {minimumVersion}),
});

/** The SQL of a column field by field: the link's own, else its template's, else the organization's. Null if none is set. */
export const platformSql = (column: keyof PlatformColumns): string => {
	const levels = ['app_configs', 'templates', 'links'].map((table) => `coalesce(${table}.${column}, '{}')`);
	return `nullif(${levels.join(' || ')}, '{}')`;
};
