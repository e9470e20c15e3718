import path from 'node:path';
import type {OnDamage} from './damaged.ts';
import {type Stores, storeClicks, storeRows} from './entry-store.ts';
import {readPosition, type Sink, type Step} from './journal-position.ts';
import {decodeSection, type Section} from './section.ts';
import {isBefore, type Position, readChunk, removeBefore, restBehind} from './segments.ts';

/**
 * The drains of a journal: into the tables, and, where raw clicks are outside PostgreSQL, into their store. They do not
 * wait for each other. A file is removed when both are past it.
 */
export const createDrains = (folder: string, {onDamage, ...stores}: Stores & {onDamage: OnDamage}) => {
	const {db, raw} = stores;
	const journal = path.basename(folder);

	/**
	 * Copies the journal to a sink. Several processes may drain it at once: each click is written exactly once.
	 * @param store brings clicks to where they belong and moves the position, both or neither; false if it was moved.
	 */
	const createDrain = (sink: Sink, store: (sections: Section[], step: Step) => Promise<boolean>) => {
		let at: Position = {segment: 0, position: 0};
		/** False if a transaction of unknown outcome may have moved the position. */
		let isKnown = false;

		return {
			/** Copies the next clicks. @returns how many; null if there were none. @throws errors of the database and the disk. */
			step: async (): Promise<number | null> => {
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
			/** The last known position. */
			position: (): Position => at,
		};
	};

	const tables = createDrain('tables', (sections, step) => storeClicks(stores, sections, step));
	const store = raw && createDrain('store', (sections, step) => storeRows(db, raw, sections, step));

	/** Everything before it is where it belongs. */
	const position = (): Position =>
		store !== null && isBefore(store.position(), tables.position()) ? store.position() : tables.position();

	return {
		tables,
		store,
		position,
		/** Reports the bytes behind the last frame of a dead process's journal, before the journal is removed. */
		reportRest: (): void => {
			for (const damage of restBehind(folder, tables.position())) {
				onDamage(folder, damage);
			}
		},
	};
};

export type Drains = ReturnType<typeof createDrains>;

export type Drain = Drains['tables'];
