import {type Db, onlyRow} from '../../platform/db/db.ts';
import {migratedTables, type Table} from '../../platform/db/migrate.ts';
import {execute, identifier, joined, run, type Sql, script, sql} from '../../platform/db/sql.ts';
import {clickHouseTables} from '../../visits/click-stores/clickhouse/storage-location.ts';

/** A table with the types of its columns. */
export type BackupTable = Table & {types: string[]};
type ForeignKey = {table: string; name: string; definition: string};

/**
 * Excluded: applied migrations, which the header lists; leases, which are meaningless elsewhere; journals, which are
 * files of this machine; and notes about clicks in ClickHouse, whose rows are in the backup.
 */
const NOT_DATA: readonly string[] = ['migrations', 'leases', 'click_journals', ...clickHouseTables];

/** Whether a backup has the rows of a table. */
export const isData = ({name}: Table): boolean => !NOT_DATA.includes(name);

/**
 * All tables of the installation with their columns, partitioned ones as one, by name. Omits other programs' tables in
 * the same schema: no other database would fit a backup with them.
 */
export const listTables = async (db: Db): Promise<BackupTable[]> => {
	const own = await migratedTables(db);
	return run(
		db,
		sql`SELECT pg_class.relname AS name, array_agg(CAST(attname AS text) ORDER BY attnum) AS columns,
			array_agg(format_type(atttypid, atttypmod) ORDER BY attnum) AS types
		FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
		WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p') AND NOT relispartition
			AND relname <> ALL(${NOT_DATA}) AND ${own === null ? sql`true` : sql`relname = ANY(${own})`}
		GROUP BY 1 ORDER BY 1`,
	);
};

/** Rows that a new database already contains: created by migrations or first requests, and not user data. */
const ownRows: Readonly<Record<string, Sql>> = {
	domains: sql`organization_id IS NULL`,
	match_peppers: sql`true`,
	rollups: sql`true`,
};

/** The tables with user data. */
export const listFilled = async (db: Db, tables: readonly BackupTable[]): Promise<string[]> => {
	const filled: string[] = [];
	for (const {name} of tables) {
		const foreign = sql`SELECT FROM ${identifier(name)} WHERE NOT (${ownRows[name] ?? sql`false`})`;
		const {isFilled} = onlyRow(await run<{isFilled: boolean}>(db, sql`SELECT EXISTS (${foreign}) AS "isFilled"`));
		filled.push(...(isFilled ? [name] : []));
	}

	return filled;
};

/** Totals of a database, which a restore would replace. */
export type StoredTotals = {organizations: number; links: number; clicks: number};

/** @returns null for a database without user data. */
export const readStoredTotals = async (db: Db): Promise<StoredTotals | null> => {
	const tables = await listTables(db);
	if ((await listFilled(db, tables)).length === 0) {
		return null;
	}

	// Another program's database has none of these tables, and that of an older version may lack some.
	const numberOf = async (table: string, count: Sql): Promise<number> => {
		if (!tables.some(({name}) => name === table)) {
			return 0;
		}

		const statement = sql`SELECT CAST(coalesce(${count}, 0) AS float8) AS number FROM ${identifier(table)}`;
		return onlyRow(await run<{number: number}>(db, statement)).number;
	};
	return {
		organizations: await numberOf('organizations', sql`count(*)`),
		links: await numberOf('links', sql`count(*)`),
		clicks: await numberOf('click_counts', sql`sum(clicks)`),
	};
};

export const emptyTables = async (trx: Db, tables: readonly BackupTable[]): Promise<void> => {
	await execute(trx, sql`TRUNCATE ${joined(tables.map(({name}) => identifier(name)))}`);
};

/** Drops the foreign keys, since two tables reference each other and no order would satisfy them. */
export const dropForeignKeys = async (trx: Db): Promise<ForeignKey[]> => {
	const keys = await run<ForeignKey>(
		trx,
		sql`SELECT relname AS table, conname AS name, pg_get_constraintdef(pg_constraint.oid) AS definition
		FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
		WHERE contype = 'f' AND conparentid = 0 AND connamespace = CAST(current_schema() AS regnamespace)`,
	);
	for (const {table, name} of keys) {
		await execute(trx, sql`ALTER TABLE ${identifier(table)} DROP CONSTRAINT ${identifier(name)}`);
	}

	return keys;
};

/** Restores the foreign keys, which validates every row. */
export const addForeignKeys = async (trx: Db, keys: readonly ForeignKey[]): Promise<void> => {
	for (const {table, name, definition} of keys) {
		await execute(trx, sql`ALTER TABLE ${identifier(table)} ADD CONSTRAINT ${identifier(name)} ${script(definition)}`);
	}
};

/**
 * JSON is stored in a backup as its text: a value of type `json` may have parts that PostgreSQL reads back as nothing else
 * (U+0000, half a surrogate pair), and its `null` would become NULL.
 */
const isJson = (type: string): boolean => type === 'json' || type === 'jsonb';

const columnsOfTable = ({columns, types}: BackupTable): Array<{column: Sql; type: string}> =>
	columns.map((name, index) => ({column: identifier(name), type: types[index] ?? 'text'}));

/** Selects the rows of a table as JSON objects of their columns, each without a line break. */
export const rowsAsJson = (table: BackupTable): Sql => {
	const values = columnsOfTable(table).map(({column, type}) =>
		isJson(type) ? sql`CAST(${column} AS text) AS ${column}` : column,
	);
	return sql`SELECT CAST(row_to_json(one) AS text) AS line
		FROM (SELECT ${joined(values)} FROM ${identifier(table.name)}) AS one`;
};

/** Inserts rows of `rowsAsJson`. PostgreSQL parses the values that it has written. */
export const insertRows = async (trx: Db, table: BackupTable, rows: readonly string[]): Promise<void> => {
	const columns = columnsOfTable(table);
	const values = columns.map(({column, type}) => (isJson(type) ? sql`CAST(${column} AS ${script(type)})` : column));
	const read = columns.map(({column, type}) => sql`${column} ${script(isJson(type) ? 'text' : type)}`);
	await execute(
		trx,
		sql`INSERT INTO ${identifier(table.name)} (${joined(columns.map(({column}) => column))}) SELECT ${joined(values)}
		FROM json_to_recordset(${`[${rows.join(',')}]`}) AS one (${joined(read)})`,
	);
};
