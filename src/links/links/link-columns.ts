import {columnOf, toColumns} from '../../platform/db/columns.ts';
import {joined, type Sql, script} from '../../platform/db/sql.ts';
import {
	allLinkFields,
	type Changes,
	type InputFields,
	isShared,
	type LinkColumns,
	linkColumns,
	linkFields,
	type Og,
	type OwnName,
	type PlatformName,
	platformFields,
	type SharedName,
	type ShownFields,
} from './link-fields.ts';

type PlatformColumns = LinkColumns<PlatformName>;

/** The object after the changes; undefined changes nothing, null clears all. Null if nothing remains. */
const changed = (
	names: readonly string[],
	before: object | null,
	changes: Changes<Record<string, unknown>> | null | undefined,
): object | null => {
	const after: Record<string, unknown> = changes === null ? {} : {...before, ...changes};
	const entries = names.flatMap((name) => (after[name] == null ? [] : [[name, after[name]]]));
	return entries.length === 0 ? null : Object.fromEntries(entries);
};

/** The columns of the platform fields after an input. @param before null for a new row. */
export const platformColumns = (
	input: InputFields<PlatformName>,
	before: PlatformColumns | null = null,
): PlatformColumns =>
	Object.fromEntries(
		platformFields.map(({name, column, parts}) => [
			column,
			changed(Object.keys(parts), before?.[column] ?? null, input[name]),
		]),
	) as PlatformColumns;

const ogParts = Object.keys(linkFields.og.parts) as Array<keyof Og>;

/** The columns that the fields of a link or a template set in an insert or, of the row `before`, in an update. */
export const inputColumns = <Input extends InputFields<SharedName>>(
	{og, ...fields}: Input,
	before: PlatformColumns | null,
): Record<string, unknown> => {
	const parts = og === undefined ? [] : ogParts.map((part) => [`og_${part}`, og === null ? null : og[part]]);
	return {...toColumns({...fields, ...Object.fromEntries(parts)}), ...platformColumns(fields, before)};
};

/** The platform fields of a row. */
export const platformFieldsOf = (row: PlatformColumns): ShownFields<PlatformName> =>
	Object.fromEntries(platformFields.flatMap(({name, column}) => (row[column] === null ? [] : [[name, row[column]]])));

export const ogOf = (row: LinkColumns<'og'>): Og => ({
	title: row.og_title,
	description: row.og_description,
	imageUrl: row.og_image_url,
});

const shown = (row: Readonly<Record<string, unknown>>, fields: typeof allLinkFields): Record<string, unknown> => {
	const values: Record<string, unknown> = {};
	for (const {name, kind} of fields) {
		const value = kind === 'group' ? ogOf(row as LinkColumns<'og'>) : row[columnOf(name)];
		if (value !== null || kind !== 'platforms') {
			values[name] = value;
		}
	}

	return values;
};

const sharedFields = allLinkFields.filter(isShared);
const ownFields = allLinkFields.filter((field) => !isShared(field));

/** The fields that a row of a link or a template has, in the order in which the API shows them. */
export const sharedFieldsOf = (row: LinkColumns<SharedName>): ShownFields<SharedName> =>
	shown(row, sharedFields) as ShownFields<SharedName>;

/** The fields of a link that templates lack. */
export const ownFieldsOf = (row: LinkColumns<OwnName>): ShownFields<OwnName> =>
	shown(row, ownFields) as ShownFields<OwnName>;

/**
 * The SQL of a column as it takes effect: the link's own value, else the next level's, else the default. A platform field
 * is merged part by part. Parameters are the link's alone; pages merge them with their template's.
 */
const effectiveSql = ({column, field: {kind, levels, default: unset}}: (typeof linkColumns)[number]): string => {
	const values = levels.map((table) => `${table}.${column}`);
	if (kind === 'params') {
		return `links.${column}, templates.${column} AS template_${column}`;
	}

	if (kind === 'platforms') {
		const merged = values.toReversed().map((value) => `coalesce(${value}, '{}')`);
		return `nullif(${merged.join(' || ')}, '{}') AS ${column}`;
	}

	const all = [...values, ...(unset === undefined ? [] : [unset])];
	return all.length === 1 ? `links.${column}` : `coalesce(${all.join(', ')}) AS ${column}`;
};

/** The selected columns of fields as they take effect, of `links`, `templates` and `app_configs`. */
export const effectiveColumns = (isSelected: (field: (typeof allLinkFields)[number]) => boolean): Sql =>
	joined(linkColumns.filter(({field}) => isSelected(field)).map((column) => script(effectiveSql(column))));
