import {storageLimits} from '../config/storage-limits.ts';
import {type Db, inTransaction} from '../db/db.ts';
import {
	addSlice,
	analyzeWriters,
	findFirstWriter,
	findOldDay,
	keepHours,
	type RollupState,
	readState,
	restartRollups,
	type Slice,
	saveProgress,
	takeRollupLock,
} from './rollup-store.ts';

/** Most transactions that one step adds; a click is one. */
const STEP_TRANSACTIONS = 50_000n;

/** A day with more clicks and matches than this is too slow to be read row by row where a report cuts it in two. */
const BUSY = 50_000;

type Options = {stepTransactions?: bigint; busy?: number; referrers?: number};

/** From how many clicks on a day is kept by the hour, and how many referrers of it one by one. */
type DayLimits = {busy: number; referrers: number};

/** The snapshot without the transactions from `end` on, but with all that `since` has. A snapshot reads `xmin:xmax:xip,xip`. */
const cutSnapshot = (snapshot: string, {since, end}: {since: string; end: bigint}): string => {
	const [, xmax = '', underWay = ''] = snapshot.split(':');
	const last = [end, BigInt(since.split(':')[1] ?? 0)].reduce((a, b) => (a > b ? a : b));
	if (last >= BigInt(xmax)) {
		return snapshot;
	}

	const left = underWay.split(',').filter((xid) => xid !== '' && BigInt(xid) < last);
	return `${left[0] ?? last}:${last}:${left.join(',')}`;
};

const add = async (trx: Db, slice: Slice, limits: DayLimits): Promise<void> => {
	for (const day of await addSlice(trx, slice, limits)) {
		await keepHours(trx, day, slice.rolled);
	}
};

/** Adds a day of the rows that were restored into this cluster, or notes that there are no more. */
const addOldDay = async (
	trx: Db,
	{rolled}: RollupState,
	backfill: {organizationId: string; from: string},
	limits: DayLimits,
): Promise<void> => {
	const old = await findOldDay(trx, backfill);
	await (old === null ? analyzeWriters(trx) : add(trx, {rolled, old}, limits));

	const next = old === null ? null : {organizationId: old.organizationId, from: old.to};
	await saveProgress(trx, {rolled, backfill: next});
};

/** Adds what was written since the last step. Rows of a transaction that is under way wait for a later one. */
const addNewRows = async (
	trx: Db,
	{rolled: since, current}: RollupState,
	stepTransactions: bigint,
	limits: DayLimits,
): Promise<boolean> => {
	const first = await findFirstWriter(trx, {since, rolled: current});
	if (first === null) {
		return false;
	}

	const rolled = cutSnapshot(current, {since, end: BigInt(first) + stepTransactions});
	await add(trx, {rolled, since}, limits);
	await saveProgress(trx, {rolled, backfill: null});
	return true;
};

/**
 * One bounded step of rolling up, in one transaction: counts and how far they go are kept together or not at all.
 * @returns whether there may be more to do; false also where another process is at it.
 */
export const rollUpStep = (
	db: Db,
	{stepTransactions = STEP_TRANSACTIONS, busy = BUSY, referrers = storageLimits().referrersPerDay}: Options = {},
): Promise<boolean> =>
	inTransaction(db, async (trx) => {
		const state = (await takeRollupLock(trx)) ? await readState(trx) : null;
		if (state === null) {
			return false;
		}

		if (!state.isOfThisCluster) {
			await restartRollups(trx);
			return true;
		}

		if (state.backfill !== null) {
			await addOldDay(trx, state, state.backfill, {busy, referrers});
			return true;
		}

		return addNewRows(trx, state, stepTransactions, {busy, referrers});
	});

/**
 * Adds all that has been written to the rollups, step by step. Reports are exact at any time; this makes them quick.
 * @param isStopping ends it after the step that is under way.
 */
export const rollUp = async (db: Db, isStopping: () => boolean = () => false, options?: Options): Promise<void> => {
	let isMore = true;
	while (isMore && !isStopping()) {
		isMore = await rollUpStep(db, options);
	}
};
