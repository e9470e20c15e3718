import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import type {Logger} from 'pino';
import {ConfigError} from '../config/config.ts';
import {packageRoot} from '../package-root.ts';
import {type Db, inTransaction, onlyRow} from './db.ts';
import {execute, run, script, sql} from './sql.ts';

/** A migration: `appliedAt` null if it is pending, `known` false if only a newer version has it. */
type MigrationState = {name: string; appliedAt: Date | null; known: boolean};

const folder = path.join(packageRoot, 'migrations');
const SECTION = /^-- migrate:(up|down)$/m;

/** A migration is one SQL file with a `-- migrate:up` and a `-- migrate:down` section, as in dbmate. */
const readSections = async (name: string): Promise<{up: string; down: string}> => {
	const text = await readFile(path.join(folder, `${name}.sql`), 'utf8');
	const [, first, up, second, down] = text.split(SECTION);
	if (first !== 'up' || second !== 'down' || up === undefined || down === undefined) {
		throw new Error(`${name}.sql needs a section '-- migrate:up' and after it '-- migrate:down'`);
	}

	return {up, down};
};

/** Names of this version's migrations, oldest first. */
export const knownMigrations = async (): Promise<string[]> =>
	(await readdir(folder)).flatMap((file) => (file.endsWith('.sql') ? [file.slice(0, -4)] : [])).sort();

type AppliedMigration = {name: string; appliedAt: Date};

/** SQLSTATE of an undefined table. */
const UNDEFINED_TABLE = '42P01';

const readApplied = (db: Db): Promise<AppliedMigration[]> =>
	run(db, sql`SELECT name, migration_time AS "appliedAt" FROM migrations ORDER BY id`);

/** In a transaction the query needs a savepoint, since a failed statement aborts all that follow. */
const appliedRows = async (db: Db): Promise<AppliedMigration[]> => {
	try {
		return await (db.isTransaction ? db.transaction(readApplied) : readApplied(db));
	} catch (error) {
		if ((error as {code?: unknown}).code === UNDEFINED_TABLE) {
			return [];
		}

		throw error;
	}
};

/** Every known or applied migration in order, with the time it was applied. */
export const migrationStatus = async (db: Db): Promise<MigrationState[]> => {
	const [names, rows] = await Promise.all([knownMigrations(), appliedRows(db)]);
	const applied = new Map(rows.map((row) => [row.name, row.appliedAt]));
	return [...new Set([...names, ...applied.keys()])].map((name) => ({
		name,
		appliedAt: applied.get(name) ?? null,
		known: names.includes(name),
	}));
};

/** The names of pending migrations. @throws ConfigError if a newer version of the program has migrated the database. */
const pending = async (db: Db): Promise<string[]> => {
	const states = await migrationStatus(db);
	const unknown = states.flatMap(({name, known}) => (known ? [] : [name]));
	if (unknown.length > 0) {
		throw new ConfigError([
			`The database has migrations that this version of Oplink does not know (${unknown.join(', ')}): start the version that applied them, or roll them back with its 'oplink migrate down'`,
		]);
	}

	return states.flatMap(({name, appliedAt}) => (appliedAt === null ? [name] : []));
};

/** Serializes migrations of a database. The number must differ from the other advisory locks. */
const MIGRATION_LOCK = 7_201_002;

/** Runs before the first migration. */
const CREATE_MIGRATIONS = sql`CREATE TABLE IF NOT EXISTS migrations (
	id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT migrations_pkey PRIMARY KEY,
	name text NOT NULL CONSTRAINT migrations_name_key UNIQUE,
	migration_time timestamptz NOT NULL DEFAULT now()
)`;

/**
 * Runs `step` in a transaction while no other process migrates the same database; the others wait. The lock ends with
 * the transaction, so a killed process leaves no lock and no partial migration.
 */
const withMigrationLock = <T>(db: Db, step: (trx: Db) => Promise<T>, log?: Logger): Promise<T> =>
	inTransaction(db, async (trx) => {
		const locked = await run<{taken: boolean}>(trx, sql`SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS taken`);
		if (!onlyRow(locked).taken) {
			log?.info('another process is migrating the database: waiting for it');
			await execute(trx, sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
		}

		return step(trx);
	});

/** @returns the name of the applied migration, or null if none was pending. */
const applyNext = async (trx: Db): Promise<string | null> => {
	const [next] = await pending(trx);
	if (next === undefined) {
		return null;
	}

	await execute(trx, CREATE_MIGRATIONS);
	await execute(trx, script((await readSections(next)).up));
	await trx('migrations').insert({name: next});
	return next;
};

/**
 * Applies pending migrations, each in its own transaction. Concurrent processes take turns, each applying the next one.
 * With nothing pending, as at nearly every start, this is one statement.
 * @returns the names applied by this call, oldest first. @throws ConfigError for a newer version's database.
 */
export const migrateUp = async (db: Db, log?: Logger): Promise<string[]> => {
	const applied: string[] = [];
	while ((await pending(db)).length > 0) {
		const name = await withMigrationLock(db, applyNext, log);
		applied.push(...(name === null ? [] : [name]));
	}

	return applied;
};

/** Rolls back the newest applied migration. @returns its name, or null if none is applied. */
export const migrateDown = (db: Db): Promise<string | null> =>
	withMigrationLock(db, async (trx) => {
		await pending(trx);
		const newest = (await appliedRows(trx)).at(-1);
		if (newest === undefined) {
			return null;
		}

		await execute(trx, script((await readSections(newest.name)).down));
		await trx('migrations').where({name: newest.name}).delete();
		return newest.name;
	});

/** A table and its columns, in their order. */
export type Table = {name: string; columns: string[]};

const columnsOfTable = (body: string): string[] =>
	[...body.matchAll(/^\t([a-z_]\w*) /gm)].map(([, column = '']) => column);

/** The tables that migrations of this version make: each column is the first word of a line indented by one tab. */
export const tablesOf = async (migrations: readonly string[]): Promise<Table[]> => {
	const sections = await Promise.all(migrations.map(readSections));
	return sections.flatMap(({up}) =>
		`\n${up}`.split('\nCREATE TABLE ').flatMap((statement, index) => {
			const [text = ''] = statement.split('\n)', 1);
			const begin = text.indexOf(' (\n');
			return index === 0 || begin < 0 ? [] : [{name: text.slice(0, begin), columns: columnsOfTable(text.slice(begin))}];
		}),
	);
};

/** The tables that migrations have made; null for the database of a newer version, which may have more. */
export const migratedTables = async (db: Db): Promise<string[] | null> => {
	const states = await migrationStatus(db);
	return states.every(({known}) => known) ? (await tablesOf(states.map(({name}) => name))).map(({name}) => name) : null;
};
