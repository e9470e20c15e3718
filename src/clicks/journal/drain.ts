import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import type {OnDamage} from './damaged.ts';
import {monthsOf, type OnRefused, readPosition, storeBatch} from './entry-store.ts';
import type {Position} from './position.ts';
import {decodeSection} from './section.ts';
import {readChunk, removeBefore, restBehind} from './segments.ts';

/** Brings a journal into the tables. Any number of processes may do so at once: each click arrives once. */
export type Drain = {
	/** Brings the next clicks. @returns whether there were any. @throws what the database or the disk fails with. */
	step(): Promise<boolean>;
	/** Reports what stands behind the last frame of a journal whose process is gone, before it is removed. */
	reportRest(): void;
	/** Up to where the journal is in the tables, as far as is known. */
	position(): Position;
};

type Given = {
	db: Db;
	clickPartitions: ClickPartitions;
	folder: string;
	journal: string;
	onRefused: OnRefused;
	onDamage: OnDamage;
};

export const createDrain = ({db, clickPartitions, folder, journal, onRefused, onDamage}: Given): Drain => {
	let position: Position = {segment: 0, position: 0};
	/** False where a transaction may or may not have moved it. */
	let isKnown = false;

	return {
		step: async () => {
			if (!isKnown) {
				position = await readPosition(db, journal);
				isKnown = true;
			}

			const chunk = readChunk(folder, position);
			if (chunk === null) {
				return false;
			}

			// Before the position passes it: afterwards its file may be removed at any time.
			for (const damage of chunk.damage) {
				onDamage(folder, damage);
			}

			const sections = chunk.payloads.map(decodeSection);
			for (const month of monthsOf(sections)) {
				await clickPartitions.ensure(month);
			}

			const {to} = chunk;
			isKnown = false;
			if (await storeBatch(db, {journal, from: position, to, sections}, onRefused)) {
				const isInNextFile = to.segment > position.segment;
				position = to;
				isKnown = true;
				if (isInNextFile) {
					removeBefore(folder, to);
				}
			}

			return true;
		},
		reportRest: () => {
			for (const damage of restBehind(folder, position)) {
				onDamage(folder, damage);
			}
		},
		position: () => position,
	};
};
