import {hash} from 'node:crypto';
import type {Db} from '../../db/db.ts';
import type {Section} from './section.ts';
import type {Position} from './segments.ts';

/** A store outside PostgreSQL that has the rows of clicks. */
export type RawClicks = {
	/**
	 * Stores the rows of a batch, and notes in the transaction that they are there. A repeated batch changes nothing.
	 * @throws if the store is away.
	 */
	store(trx: Db, batch: string, sections: readonly Section[]): Promise<void>;
};

/** The id of the batch that begins at a position: the same however often it is brought. */
export const batchId = (journal: string, {segment, position}: Position): string => {
	const digits = hash('sha256', `${journal}:${segment}:${position}`, 'hex');
	return [8, 12, 16, 20, 32].map((end, index) => digits.slice([0, 8, 12, 16, 20][index], end)).join('-');
};
