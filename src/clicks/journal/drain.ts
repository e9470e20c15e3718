import type {Db} from '../../db/db.ts';
import type {OnDamage} from './damaged.ts';
import type {Batch} from './entry-store.ts';
import {readPosition, type Sink} from './journal-position.ts';
import type {Position} from './position.ts';
import {decodeSection} from './section.ts';
import {readChunk, restBehind} from './segments.ts';

/** Copies a journal to the tables. Several processes may drain it at once: each click is written exactly once. */
export type Drain = {
	/** Copies the next clicks. @returns how many; null if there were none. @throws errors of the database and the disk. */
	step(): Promise<number | null>;
	/** Reports the bytes behind the last frame of a dead process's journal, before the journal is removed. */
	reportRest(): void;
	/** The last known position of the drain. */
	position(): Position;
};

type Options = {
	db: Db;
	folder: string;
	journal: string;
	sink: Sink;
	/** Brings a batch to where it belongs and moves the position, both or neither. @returns false if it was moved. */
	store: (batch: Batch) => Promise<boolean>;
	onDamage: OnDamage;
	/** Called when the position has moved to another file. */
	onNextFile: () => void;
};

export const createDrain = ({db, folder, journal, sink, store, onDamage, onNextFile}: Options): Drain => {
	let position: Position = {segment: 0, position: 0};
	/** False if a transaction of unknown outcome may have moved the position. */
	let isKnown = false;

	return {
		step: async () => {
			if (!isKnown) {
				position = await readPosition(db, journal, sink);
				isKnown = true;
			}

			const chunk = readChunk(folder, position);
			if (chunk === null) {
				return null;
			}

			// Before the position moves past it: afterwards its file may be removed at any time.
			for (const damage of chunk.damage) {
				onDamage(folder, damage);
			}

			const sections = chunk.payloads.map(decodeSection);
			const {to} = chunk;
			isKnown = false;
			if (await store({journal, from: position, to, sections})) {
				const isInNextFile = to.segment > position.segment;
				position = to;
				isKnown = true;
				if (isInNextFile) {
					onNextFile();
				}
			}

			return sections.flatMap(({counts}) => counts).reduce((sum, {clicks}) => sum + clicks, 0);
		},
		reportRest: () => {
			for (const damage of restBehind(folder, position)) {
				onDamage(folder, damage);
			}
		},
		position: () => position,
	};
};
