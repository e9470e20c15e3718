import path from 'node:path';
import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import type {OnDamage} from './damaged.ts';
import {createDrain, type Drain} from './drain.ts';
import {monthsOf, type OnRefused, storeBatch, storeRows} from './entry-store.ts';
import type {Position} from './position.ts';
import type {RawClicks} from './raw-clicks.ts';
import {removeBefore} from './segments.ts';
import {isBefore} from './waiting-clicks.ts';

/**
 * The drains of a journal: into the tables, and, where raw clicks are outside PostgreSQL, into their store. They do not
 * wait for each other. A file is removed when both are past it.
 */
export type Drains = {
	tables: Drain;
	store: Drain | null;
	/** Everything before it is where it belongs. */
	position(): Position;
};

type Options = {
	db: Db;
	clickPartitions: ClickPartitions;
	raw: RawClicks | null;
	onRefused: OnRefused;
	onDamage: OnDamage;
};

export const createDrains = (folder: string, {db, clickPartitions, raw, onRefused, onDamage}: Options): Drains => {
	const onNextFile = (): void => removeBefore(folder, drains.position());
	const shared = {db, folder, journal: path.basename(folder), onDamage, onNextFile};
	const drains: Drains = {
		tables: createDrain({
			...shared,
			sink: 'tables',
			store: async (batch) => {
				for (const month of raw === null ? monthsOf(batch.sections) : []) {
					await clickPartitions.ensure(month);
				}

				return storeBatch(db, batch, raw, onRefused);
			},
		}),
		store: raw === null ? null : createDrain({...shared, sink: 'store', store: (batch) => storeRows(db, batch, raw)}),
		position: () => {
			const tables = drains.tables.position();
			const store = drains.store?.position() ?? tables;
			return isBefore(store, tables) ? store : tables;
		},
	};
	return drains;
};
