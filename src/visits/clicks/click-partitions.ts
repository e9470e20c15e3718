import type {Db} from '../../platform/db/db.ts';
import {execute, identifier, literal, run, sql} from '../../platform/db/sql.ts';

const monthStart = (at: Date, offset = 0): Date =>
	new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1));

/** The month as in its partition's name, such as 2026_03. */
const monthName = (at: Date): string => at.toISOString().slice(0, 7).replace('-', '_');

/** Serializes creation between processes. The number must only differ from our other advisory locks. */
const PARTITION_LOCK = 7_201_001;

/** Creates the monthly partitions of `clicks`, each before the first click of its month. */
export const createClickPartitions = (db: Db) => {
	const made = new Map<string, Promise<void>>();

	const create = (at: Date): Promise<void> =>
		db.transaction(async (trx) => {
			await execute(trx, sql`SELECT pg_advisory_xact_lock(${PARTITION_LOCK})`);
			const name = `clicks_${monthName(at)}`;
			const [row] = await run<{found: string | null}>(trx, sql`SELECT to_regclass(${name}) AS found`);
			if (row?.found != null) {
				return;
			}

			const [partition, key] = [identifier(name), identifier(`${name}_pkey`)];
			const [from, to] = [literal(monthStart(at).toISOString()), literal(monthStart(at, 1).toISOString())];
			// Attached, because CREATE TABLE PARTITION OF would wait for all readers and writers of the table, backups too,
			// and block every later statement.
			await execute(trx, sql`CREATE TABLE ${partition} (LIKE clicks INCLUDING ALL)`);
			await execute(trx, sql`CREATE UNIQUE INDEX ${key} ON ${partition} (id)`);
			await execute(trx, sql`ALTER TABLE clicks ATTACH PARTITION ${partition} FOR VALUES FROM (${from}) TO (${to})`);
		});

	return {
		/** Resolves when a click of that time can be stored. Costs nothing for a month that was ensured before. */
		ensure: (at: Date): Promise<void> => {
			const name = monthName(at);
			const existing = made.get(name);
			if (existing !== undefined) {
				return existing;
			}

			const creation = create(at);
			made.set(name, creation);
			// Only this caller fails; the next one tries again.
			creation.catch(() => made.delete(name));
			return creation;
		},
	};
};

export type ClickPartitions = ReturnType<typeof createClickPartitions>;
