import {memoize} from '../memoize.ts';
import {joined, type Sql, script} from './sql.ts';

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
	? `${Head}${Capitalize<Camel<Tail>>}`
	: Name;
type FieldsOf<List extends string> = List extends `${infer Head}, ${infer Tail}`
	? Camel<Head> | FieldsOf<Tail>
	: Camel<List>;

/** The list, if it has a column for each field of `T` and no other; else a text that names the wrong one. */
type Complete<T, List extends string> = [Exclude<keyof T, FieldsOf<List>>] extends [never]
	? [Exclude<FieldsOf<List>, keyof T>] extends [never]
		? List
		: `no such field: ${Exclude<FieldsOf<List>, keyof T>}`
	: `no column for: ${Exclude<keyof T, FieldsOf<List>> & string}`;

type Snake<Name extends string> = Name extends `${infer Letter}${infer Rest}`
	? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${Snake<Rest>}`
	: Name;

/** A row with a column for each field of `T`. */
export type RowOf<T> = {[Field in keyof T & string as Snake<Field>]: T[Field]};

/** The columns that a `T` is read from. */
export type Columns<T> = {
	/** For `select`, `first` and `returning`: `key_hash as keyHash`. */
	list: string[];
	/** For SQL text: `api_keys.key_hash AS "keyHash"`. */
	of: (table: string) => Sql;
	/** Only for the compiler. */
	row?: T;
};

const camelCase = (column: string): string =>
	column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Lists the columns of a type by their names in the database: rows then have the type's own fields and
 * need no mapper. `const columns: Columns<Channel> = columnsOf('id, name, created_at')`.
 */
export const columnsOf = <T, const List extends string>(list: Complete<T, List>): Columns<T> => {
	const columns = list.split(', ').map((column) => ({column, field: camelCase(column)}));
	const aliased = (table: string) =>
		columns.map(({column, field}) => `${table}.${column}${column === field ? '' : ` AS "${field}"`}`);
	return {
		of: memoize((table) => joined(aliased(table).map(script))),
		list: columns.map(({column, field}) => (column === field ? column : `${column} as ${field}`)),
	};
};

/** The column of a field: `keyHash` is `key_hash`. */
export const columnOf = memoize((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), 1000);

/** The columns of an insert, an update or a condition, by their fields: `{keyHash}` is `{key_hash}`. Undefined fields are omitted. */
export const toColumns = (fields: Record<string, unknown>): Record<string, unknown> => {
	const columns: Record<string, unknown> = {};
	for (const [field, value] of Object.entries(fields)) {
		if (value !== undefined) {
			columns[columnOf(field)] = value;
		}
	}

	return columns;
};
