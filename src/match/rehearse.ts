import {createKeyBook} from '../api-keys/key-book.ts';
import {createBackground} from '../background.ts';
import {directly} from '../clicks/record-click.ts';
import {createMetrics} from '../metrics/metrics.ts';
import type {Services} from '../services.ts';
import {createMatchPeppers} from './match-peppers.ts';

/** An idle transaction ends by itself: an organization's clicks may wait for a row that this one holds. */
const IDLE_MS = 5000;

/**
 * Runs `work` over services of a transaction that is rolled back, with a clock that stands still: nothing is counted,
 * consumed or registered.
 */
export const rehearse = async <T>(services: Services, work: (rehearsed: Services) => Promise<T>): Promise<T> => {
	const now = services.clock.now();
	// Before the transaction, whose locks the journal would wait for.
	await services.clickJournal.settled();
	const background = createBackground(services.log);
	const trx = await services.db.transaction();
	try {
		await trx.raw(`SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`);
		return await work({
			...services,
			db: trx,
			keyBook: createKeyBook(trx),
			background,
			metrics: createMetrics(services.clock),
			clock: {now: () => now},
			matchPeppers: createMatchPeppers(trx),
			clickJournal: directly({db: trx, clickPartitions: services.clickPartitions, clock: {now: () => now}}),
		});
	} finally {
		await background.settle();
		await trx.rollback();
	}
};
