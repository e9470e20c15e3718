import path from 'node:path';
import type {OnDamage} from './damaged.ts';
import {type Stores, storeInClickHouse, storeInPostgres} from './entry-store.ts';
import {readPosition, type Sink, type Step} from './journal-position.ts';
import {decodeSection, type Section} from './section.ts';
import {isBefore, type Position, readChunk, removeBefore, restBehind} from './segments.ts';

/** How far a journal has been copied to PostgreSQL or ClickHouse. */
export type JournalCursor = {
	/** Copies the next clicks. @returns how many; null if there were none. @throws errors of the database and the disk. */
	step(): Promise<number | null>;
	/** The last known position. */
	position(): Position;
};

/**
 * The cursors of a journal: to PostgreSQL, and, with `CLICKS_URL`, to ClickHouse. They do not wait for each other. A file
 * is removed when both are past it.
 */
export const createJournalCursors = (folder: string, {onDamage, ...stores}: Stores & {onDamage: OnDamage}) => {
	const {db, clickHouse} = stores;
	const journal = path.basename(folder);

	/**
	 * Copies the journal to a sink. The position in PostgreSQL decides what is next, so that each click is written exactly
	 * once, whoever else copies it and whatever a failed transaction did.
	 * @param store brings clicks to where they belong and moves the position, both or neither; false if it was moved.
	 */
	const createCursor = (sink: Sink, store: (sections: Section[], step: Step) => Promise<boolean>): JournalCursor => {
		let at: Position = {segment: 0, position: 0};
		/** False if a transaction of unknown outcome may have moved the position. */
		let isKnown = false;

		return {
			step: async () => {
				if (!isKnown) {
					at = await readPosition(db, journal, sink);
					isKnown = true;
				}

				const chunk = readChunk(folder, at);
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
				if (!(await store(sections, {sink, journal, from: at, to}))) {
					return 0;
				}

				const isInNextFile = to.segment > at.segment;
				at = to;
				isKnown = true;
				if (isInNextFile) {
					removeBefore(folder, position());
				}

				return sections.flatMap(({counts}) => counts).reduce((sum, {clicks}) => sum + clicks, 0);
			},
			position: () => at,
		};
	};

	const toPostgres = createCursor('postgres', (sections, step) => storeInPostgres(stores, sections, step));
	const toClickHouse =
		clickHouse && createCursor('clickHouse', (sections, step) => storeInClickHouse(db, clickHouse, sections, step));

	/** Everything before it is where it belongs. */
	const position = (): Position =>
		toClickHouse !== null && isBefore(toClickHouse.position(), toPostgres.position())
			? toClickHouse.position()
			: toPostgres.position();

	return {
		toPostgres,
		toClickHouse,
		position,
		/** Reports the bytes behind the last frame of a dead process's journal, before the journal is removed. */
		reportRest: (): void => {
			for (const damage of restBehind(folder, toPostgres.position())) {
				onDamage(folder, damage);
			}
		},
	};
};

export type JournalCursors = ReturnType<typeof createJournalCursors>;
