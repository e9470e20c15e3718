import type {Knex} from 'knex';
import pg from 'pg';
import {type Db, sharesSessions} from './db.ts';

/** A statement or a part of one: text with places for values. Made by `sql` alone. */
export class Sql {
	readonly #texts: readonly string[];
	readonly #parts: readonly unknown[];
	/** Whether there are no values, here and in the parts. */
	readonly #isConstant: boolean;
	/** Set by `prepared`. */
	readonly name: string | null;

	constructor(texts: readonly string[], parts: readonly unknown[], name: string | null = null) {
		this.#texts = texts;
		this.#parts = parts;
		this.#isConstant = parts.every((part) => part instanceof Sql && part.#isConstant);
		this.name = name;
	}

	named(name: string): Sql {
		return new Sql(this.#texts, this.#parts, name);
	}

	/** Appends the values to `values`, and returns the text, whose first place is `$N` with N one above their number. */
	write(values: unknown[]): string {
		let text = this.#texts[0] ?? '';
		for (const [index, part] of this.#parts.entries()) {
			if (part instanceof Sql) {
				text += part.write(values);
			} else {
				values.push(toValue(part));
				text += `$${values.length}`;
			}

			text += this.#texts[index + 1] ?? '';
		}

		return text;
	}

	/** Appends the values alone: the text of a prepared statement is known. */
	collect(values: unknown[]): void {
		if (this.#isConstant) {
			return;
		}

		for (const part of this.#parts) {
			if (part instanceof Sql) {
				part.collect(values);
			} else {
				values.push(toValue(part));
			}
		}
	}
}

const toValue = (value: unknown): unknown => {
	if (value === undefined) {
		throw new TypeError('a value of a statement is undefined');
	}

	return value;
};

/**
 * Text of a statement: `` sql`SELECT id FROM links WHERE id = ${id} AND ${isLive(now)}` ``. Another `sql` is inserted as
 * text; anything else is sent as a value. An array is an array of PostgreSQL (`id = ANY(${ids})`), an object is JSON; pass
 * an array for a JSON column as its text. Write a cast if PostgreSQL cannot infer the type: `${now}::timestamptz`.
 */
export const sql = (texts: TemplateStringsArray, ...parts: readonly unknown[]): Sql => new Sql(texts, parts);

/** The name of a table or column, with its table before a dot. */
export const identifier = (name: string): Sql => new Sql([name.split('.').map(pg.escapeIdentifier).join('.')], []);

/** A constant, for statements that take no values (`CREATE`, `COPY`), and where plans depend on it (`LIMIT`). */
export const literal = (value: string | number): Sql =>
	new Sql([typeof value === 'number' ? String(value) : pg.escapeLiteral(value)], []);

/** The text of a file with statements, such as a migration. */
export const script = (text: string): Sql => new Sql([text], []);

/** The parts in a row: a list of columns or conditions. */
export const joined = (
	parts: readonly Sql[],
	separator: ', ' | ' AND ' | ' OR ' | ' ' | ' UNION ALL ' | " || ',' || " | ", ',', " = ', ',
): Sql => new Sql(['', ...parts.slice(1).map(() => separator), ''], parts);

/**
 * Lets each connection parse and plan the statement once, under this name: a third of the time, and no planning of
 * joins. For statements of requests and of the journal. A session shared through a pooler plans it each time.
 * @param name unique in the code. @param statement has the same text at each call, and names its columns, because a
 * migration may add one.
 */
export const prepared = (name: string, statement: Sql): Sql => statement.named(name);

/** The text and the values, as the driver takes them. */
export const compile = (statement: Sql): {text: string; values: unknown[]} => {
	const values: unknown[] = [];
	return {text: statement.write(values), values};
};

type Result<Row> = {rows: Row[]; rowCount: number | null};
type Connection = {query<Row>(statement: {name?: string; text: string; values: unknown[]}): Promise<Result<Row>>};

/** The texts of prepared statements. */
const texts = new Map<string, string>();

const queryOf = (db: Db, statement: Sql): {name?: string; text: string; values: unknown[]} => {
	const {name} = statement;
	if (name === null) {
		return compile(statement);
	}

	const text = texts.get(name) ?? compile(statement).text;
	texts.set(name, text);
	const values: unknown[] = [];
	statement.collect(values);
	return sharesSessions(db) ? {text, values} : {name, text, values};
};

/**
 * A transaction that has ended keeps its client, whose connection the pool may have lent to others since: their
 * transaction would take the statement. knex's own statements are refused by knex.
 */
export const requireOpen = (db: Db | Knex.Transaction): void => {
	if ('isCompleted' in db && db.isCompleted()) {
		throw new Error('a statement came after the end of its transaction');
	}
};

const send = async <Row>(db: Db, statement: Sql): Promise<Result<Row>> => {
	requireOpen(db);
	const query = queryOf(db, statement);
	const connection = (await db.client.acquireConnection()) as Connection;
	try {
		return await connection.query<Row>(query);
	} finally {
		await db.client.releaseConnection(connection);
	}
};

/** Runs a statement on a pooled connection, or the transaction's. @returns its rows. */
export const run = async <Row>(db: Db, statement: Sql): Promise<Row[]> => {
	const {rows} = await send<Row>(db, statement);
	return rows;
};

/** Runs a statement whose rows are not needed. @returns how many rows it wrote. */
export const execute = async (db: Db, statement: Sql): Promise<number> => {
	const {rowCount} = await send(db, statement);
	return rowCount ?? 0;
};

/** The lines of a statement's rows, which have one column `line`, at most `most` in memory. In a transaction, one at a time. */
export async function* byCursor(trx: Db, statement: Sql, most: number): AsyncGenerator<string[]> {
	await execute(trx, sql`DECLARE lines NO SCROLL CURSOR FOR ${statement}`);
	const next = () => run<{line: string}>(trx, sql`FETCH ${literal(most)} FROM lines`);
	for (let rows = await next(); rows.length > 0; rows = await next()) {
		yield rows.map(({line}) => line);
	}

	await execute(trx, sql`CLOSE lines`);
}
