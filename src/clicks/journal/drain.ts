import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import type {OnDamage} from './damaged.ts';
import {monthsOf, type OnRefused, readPosition, storeBatch} from './entry-store.ts';
import type {Position} from './position.ts';
import {decodeSection} from './section.ts';
import {readChunk, removeBefore, restBehind} from './segments.ts';

/** Copies a journal to the tables. Several processes may drain it at once: each click is written exactly once. */
export type Drain = {
	/** Copies the next clicks. @returns whether there were any. @throws errors of the database and the disk. */
	step(): Promise<boolean>;
	/** Reports the bytes behind the last frame of a dead process's journal, before the journal is removed. */
	reportRest(): void;
	/** The last known position of the drain. */
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
	/** False if a transaction of unknown outcome may have moved the position. */
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

			// Before the position moves past it: afterwards its file may be removed at any time.
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
