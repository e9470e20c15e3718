import type {Db} from '../../platform/db/db.ts';
import {migratedTables, type Table} from '../../platform/db/migrate.ts';
import {clickHouseTables} from '../../visits/clicks/clickhouse/storage-location.ts';

/** A table with the types of its columns. */
export type BackupTable = Table & {types: string[]};
type ForeignKey = {table: string; name: string; definition: string};

/**
 * Excluded: applied migrations, which the header lists; leases, which are meaningless elsewhere; and journals, which
 * are files of this machine; and what is noted about clicks that are in ClickHouse, whose rows are in the backup.
 */
const NOT_DATA: readonly string[] = ['migrations', 'leases', 'click_journals', ...clickHouseTables];

/** Whether a backup has the rows of a table. */
export const isData = ({name}: Table): boolean => !NOT_DATA.includes(name);

/**
 * All tables of the installation with their columns, partitioned ones as one, by name. Tables that somebody else made in
 * the same schema are left out: no other database would fit a backup with them.
 */
export const listTables = async (db: Db): Promise<BackupTable[]> => {
	const {rows} = await db.raw<{rows: BackupTable[]}>(
		`SELECT pg_class.relname AS name, array_agg(CAST(attname AS text) ORDER BY attnum) AS columns,
			array_agg(format_type(atttypid, atttypmod) ORDER BY attnum) AS types
		FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
		WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p') AND NOT relispartition
			AND relname <> ALL(:left) AND (CAST(:own AS text[]) IS NULL OR relname = ANY(:own))
		GROUP BY 1 ORDER BY 1`,
		{left: [...NOT_DATA], own: await migratedTables(db)},
	);
	return rows;
};

/** Rows that a new database already contains: created by migrations or first requests, and not user data. */
const ownRows: Readonly<Record<string, string>> = {
	domains: 'organization_id IS NULL',
	match_peppers: 'true',
	rollups: 'true',
};

/** The tables with user data. */
export const listFilled = async (db: Db, tables: readonly BackupTable[]): Promise<string[]> => {
	const filled: string[] = [];
	for (const {name} of tables) {
		const {rows} = await db.raw<{rows: Array<{is_filled: boolean}>}>(
			`SELECT EXISTS (SELECT FROM ?? WHERE NOT (${ownRows[name] ?? 'false'})) AS is_filled`,
			[name],
		);
		filled.push(...(rows[0]?.is_filled ? [name] : []));
	}

	return filled;
};

/** How much a person counts in a database: what a restore would replace. */
export type Holding = {organizations: number; links: number; clicks: number};

/** @returns null for a database without user data. */
export const readHolding = async (db: Db): Promise<Holding | null> => {
	const tables = await listTables(db);
	if ((await listFilled(db, tables)).length === 0) {
		return null;
	}

	// Another program's database has none of these tables, and that of an older version may lack some.
	const numberOf = async (table: string, count: string): Promise<number> => {
		const isThere = tables.some(({name}) => name === table);
		const [row] = isThere ? await db(table).select<Array<{number: string}>>(db.raw(`${count} AS number`)) : [];
		return Number(row?.number ?? 0);
	};
	return {
		organizations: await numberOf('organizations', 'count(*)'),
		links: await numberOf('links', 'count(*)'),
		clicks: await numberOf('click_counts', 'sum(clicks)'),
	};
};

export const emptyTables = async (trx: Db, tables: readonly BackupTable[]): Promise<void> => {
	await trx.raw(
		`TRUNCATE ${tables.map(() => '??').join(', ')}`,
		tables.map(({name}) => name),
	);
};

/** Drops the foreign keys, since two tables reference each other and no order would satisfy them. */
export const dropForeignKeys = async (trx: Db): Promise<ForeignKey[]> => {
	const {rows} = await trx.raw<{rows: ForeignKey[]}>(
		`SELECT relname AS table, conname AS name, pg_get_constraintdef(pg_constraint.oid) AS definition
		FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
		WHERE contype = 'f' AND conparentid = 0 AND connamespace = CAST(current_schema() AS regnamespace)`,
	);
	for (const {table, name} of rows) {
		await trx.raw('ALTER TABLE ?? DROP CONSTRAINT ??', [table, name]);
	}

	return rows;
};

/** Restores the foreign keys, which validates every row. */
export const addForeignKeys = async (trx: Db, keys: readonly ForeignKey[]): Promise<void> => {
	for (const {table, name, definition} of keys) {
		await trx.raw(`ALTER TABLE ?? ADD CONSTRAINT ?? ${definition}`, [table, name]);
	}
};

/**
 * JSON is stored in a backup as its text: a value of type `json` may have parts that PostgreSQL reads back as nothing else
 * (U+0000, half a surrogate pair), and its `null` would become NULL.
 */
const isJson = (type: string): boolean => type === 'json' || type === 'jsonb';

/** Selects the rows of a table as JSON objects of their columns, each without a line break. */
export const rowsAsJson = ({name, columns, types}: BackupTable): {sql: string; bindings: string[]} => {
	const values = types.map((type) => (isJson(type) ? 'CAST(?? AS text) AS ??' : '??'));
	return {
		sql: `SELECT CAST(row_to_json(one) AS text) AS line FROM (SELECT ${values.join(', ')} FROM ??) AS one`,
		bindings: [...columns.flatMap((column, at) => (isJson(types[at] ?? '') ? [column, column] : [column])), name],
	};
};

/** Inserts rows of `rowsAsJson`. PostgreSQL parses the values that it has written. */
export const insertRows = async (
	trx: Db,
	{name, columns, types}: BackupTable,
	rows: readonly string[],
): Promise<void> => {
	const values = types.map((type) => (isJson(type) ? `CAST(?? AS ${type})` : '??'));
	const read = types.map((type) => (isJson(type) ? '?? text' : `?? ${type}`));
	await trx.raw(
		`INSERT INTO ?? (${columns.map(() => '??')}) SELECT ${values} FROM json_to_recordset(CAST(? AS json)) AS one (${read})`,
		[name, ...columns, ...columns, `[${rows.join(',')}]`, ...columns],
	);
};
