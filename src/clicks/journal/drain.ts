import type {Db} from '../../db/db.ts';
import type {ClickPartitions} from '../click-partitions.ts';
import {decodeEarlier, isEarlier} from './earlier-payload.ts';
import {holdsPosition, monthsOf, type OnRefused, type Position, readPosition, storeBatch} from './entry-store.ts';
import {decodeSection} from './section.ts';
import {readChunk, removeBefore} from './segments.ts';
import {isBefore} from './waiting-clicks.ts';

/** Brings a journal into the tables. Any number of processes may do so at once: each click arrives once. */
export type Drain = {
	/** Brings the next clicks. @returns whether there were any. @throws what the database or the disk fails with. */
	step(): Promise<boolean>;
	/**
	 * Waits until what was brought is on PostgreSQL's disk. A step does not: what a crash of PostgreSQL takes is brought
	 * again from the files, which stay until this was true.
	 * @returns false where some of it is gone. The position then is an earlier one, as it is where this fails.
	 */
	secure(): Promise<boolean>;
	/** Whether nothing was brought since. */
	isSecure(): boolean;
	/** Up to where the journal is in the tables, as far as is known. */
	position(): Position;
};

type Given = {
	db: Db;
	clickPartitions: ClickPartitions;
	folder: string;
	journal: string;
	onRefused: OnRefused;
};

export const createDrain = ({db, clickPartitions, folder, journal, onRefused}: Given): Drain => {
	let position: Position = {segment: 0, position: 0};
	/** False where a transaction may or may not have moved it. */
	let isKnown = false;
	let secured = position;

	const secure = async (): Promise<boolean> => {
		const brought = position;
		if (!isBefore(secured, brought)) {
			return true;
		}

		let isHeld = false;
		try {
			isHeld = await holdsPosition(db, journal, brought);
		} finally {
			if (isHeld) {
				secured = brought;
			} else {
				position = secured;
				isKnown = false;
			}
		}

		return isHeld;
	};

	return {
		step: async () => {
			if (!isKnown) {
				position = await readPosition(db, journal);
				isKnown = true;
				// A database that was taken back to an earlier state.
				secured = isBefore(position, secured) ? position : secured;
			}

			const chunk = readChunk(folder, position);
			if (chunk === null) {
				return false;
			}

			const sections = chunk.payloads.map((payload) =>
				isEarlier(payload) ? decodeEarlier(payload) : decodeSection(payload),
			);
			for (const month of monthsOf(sections)) {
				await clickPartitions.ensure(month);
			}

			const {to} = chunk;
			isKnown = false;
			if (await storeBatch(db, {journal, from: position, to, sections}, onRefused)) {
				const isInNextFile = to.segment > position.segment;
				position = to;
				isKnown = true;
				if (isInNextFile && (await secure())) {
					removeBefore(folder, to);
				}
			}

			return true;
		},
		secure,
		isSecure: () => !isBefore(secured, position),
		position: () => position,
	};
};
