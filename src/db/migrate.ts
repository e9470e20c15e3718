import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import type {Knex} from 'knex';
import {ConfigError} from '../config.ts';
import {packageRoot} from '../package-root.ts';
import type {Db} from './db.ts';

/** Name of a migration and, where it has been applied, when. */
export type MigrationState = {name: string; appliedAt: Date | null};

const folder = path.join(packageRoot, 'migrations');
const SECTION = /^-- migrate:(up|down)$/m;

/** A migration is one SQL file with a `-- migrate:up` and a `-- migrate:down` section, as dbmate writes them. */
const readSections = async (name: string): Promise<{up: string; down: string}> => {
	const text = await readFile(path.join(folder, `${name}.sql`), 'utf8');
	const [, first, up, second, down] = text.split(SECTION);
	if (first !== 'up' || second !== 'down' || up === undefined || down === undefined) {
		throw new Error(`${name}.sql needs a section '-- migrate:up' and after it '-- migrate:down'`);
	}

	return {up, down};
};

const migrationSource: Knex.MigrationSource<string> = {
	getMigrations: async () => {
		const files = await readdir(folder);
		return files.flatMap((file) => (file.endsWith('.sql') ? [file.slice(0, -4)] : [])).sort();
	},
	getMigrationName: (name) => name,
	getMigration: async (name) => {
		const {up, down} = await readSections(name);
		return {up: (db) => db.raw(up), down: (db) => db.raw(down)};
	},
};

const config: Knex.MigratorConfig = {migrationSource, tableName: 'migrations', disableMigrationsListValidation: false};

type AppliedRow = {name: string; migration_time: Date};

/** SQLSTATE of a table that is not there. */
const UNDEFINED_TABLE = '42P01';

const readApplied = (db: Db) => db<AppliedRow>('migrations').orderBy('id').select('name', 'migration_time');

/** In a transaction the table is asked for behind a savepoint, since a statement that fails spoils all that follow. */
const appliedRows = async (db: Db): Promise<AppliedRow[]> => {
	try {
		return await (db.isTransaction ? db.transaction(readApplied) : readApplied(db));
	} catch (error) {
		if ((error as {code?: unknown}).code === UNDEFINED_TABLE) {
			return [];
		}

		throw error;
	}
};

/** The names of what is not applied yet. @throws ConfigError where a newer version of the program has been at the database. */
const pending = async (db: Db): Promise<string[]> => {
	const [known, rows] = await Promise.all([migrationSource.getMigrations([]), appliedRows(db)]);
	const applied = new Set(rows.map(({name}) => name));
	const unknown = [...applied].filter((name) => !known.includes(name));
	if (unknown.length > 0) {
		throw new ConfigError([
			`The database has migrations that this version of Oplink does not know (${unknown.join(', ')}): start the version that made them, or undo them with its own 'oplink migrate down'`,
		]);
	}

	return known.filter((name) => !applied.has(name));
};

/**
 * Applies what is pending, each migration in a transaction of its own; knex's lock table keeps two processes apart. Where
 * nothing is, as at nearly every start, that is one statement, where knex takes 15.
 * @returns the names that were applied, oldest first. @throws ConfigError for a database of a newer version.
 */
export const migrateUp = async (db: Db): Promise<string[]> => {
	if ((await pending(db)).length === 0) {
		return [];
	}

	const [, applied] = (await db.migrate.latest(config)) as [number, string[]];
	return applied;
};

/** Undoes the newest applied migration. @returns its name, or null where none is applied. */
export const migrateDown = async (db: Db): Promise<string | null> => {
	await pending(db);
	const [, undone] = (await db.migrate.down(config)) as [number, string[]];
	return undone[0] ?? null;
};

/** Every migration that is known or applied, in order, with the time it was applied. */
export const migrationStatus = async (db: Db): Promise<MigrationState[]> => {
	const names = await migrationSource.getMigrations([]);
	const applied = new Map((await appliedRows(db)).map((row) => [row.name, row.migration_time]));
	// One of a newer version is told as well.
	return [...new Set([...names, ...applied.keys()])].map((name) => ({name, appliedAt: applied.get(name) ?? null}));
};
