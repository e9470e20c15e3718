import {storageLimits} from '../../../platform/config/policies.ts';
import {type Db, inTransaction} from '../../../platform/db/db.ts';
import {keepHours} from './keep-counts.ts';
import {
	addSlice,
	analyzeWriters,
	findFirstChanging,
	findFirstWriter,
	findOldDay,
	type RollupState,
	readState,
	restartRollups,
	type Slice,
	saveProgress,
	takeRollupLock,
} from './rollup-store.ts';

/** Maximum transactions per step; a click is one. */
const STEP_TRANSACTIONS = 50_000n;

/** A day with more clicks and matches is too slow to count row by row when a report cuts it in two. */
const BUSY = 50_000;

/** Maximum tallies per step; each has the clicks of a quarter of an hour that have the same values. */
const STEP_TALLIES = 50_000;

/** `changingFrom`: clicks since then may still change by their page's signals, and stay beside the rollups; null: none may. */
type Options = {stepTransactions?: bigint; busy?: number; values?: number; changingFrom?: Date | null};

/** Clicks from which on a day is also stored by the hour, and how many values of a dimension are stored one by one. */
type DayLimits = {busy: number; values: number};

/**
 * The snapshot without the transactions from `end` on, but with all those of `since`. A snapshot is
 * `xmin:xmax:xip,xip`.
 */
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

/** Rolls up a day of the rows restored into this cluster, or records that none are left. */
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

/** Rolls up the rows since the last step. Rows of open transactions wait for a later step. */
const addNewRows = async (
	trx: Db,
	{rolled: since, current}: RollupState,
	{stepTransactions, changingFrom}: {stepTransactions: bigint; changingFrom: Date | null},
	limits: DayLimits,
): Promise<boolean> => {
	const changing = changingFrom && (await findFirstChanging(trx, {since, rolled: current, from: changingFrom}));
	const upTo = changing === null ? current : cutSnapshot(current, {since, end: BigInt(changing)});
	const first = await findFirstWriter(trx, {since, rolled: upTo});
	if (first === null) {
		return false;
	}

	const rolled = cutSnapshot(upTo, {since, end: BigInt(first) + stepTransactions});
	await add(trx, {rolled, since}, limits);
	await saveProgress(trx, {rolled, backfill: null});
	return true;
};

/**
 * One bounded step of rolling up, in one transaction: counts and progress are stored together or not at all.
 * @returns whether more may be left; false also if another process holds the lock.
 */
export const rollUpStep = (
	db: Db,
	{
		stepTransactions = STEP_TRANSACTIONS,
		busy = BUSY,
		values = storageLimits().valuesPerDay,
		changingFrom = null,
	}: Options = {},
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

		// The rows of a day are read elsewhere, however many there are.
		const limits = {busy: state.areClicksInClickHouse ? Number.MAX_SAFE_INTEGER : busy, values};
		if (state.hasTallies) {
			await add(trx, {rolled: state.rolled, tallies: STEP_TALLIES}, limits);
			return true;
		}

		if (state.backfill !== null) {
			await addOldDay(trx, state, state.backfill, limits);
			return true;
		}

		return addNewRows(trx, state, {stepTransactions, changingFrom}, limits);
	});

/**
 * Rolls up all stored rows, step by step. Reports are exact at any time; this makes them fast.
 * @param isStopping ends it after the current step.
 */
export const rollUp = async (db: Db, isStopping: () => boolean = () => false, options?: Options): Promise<void> => {
	let isMore = true;
	while (isMore && !isStopping()) {
		isMore = await rollUpStep(db, options);
	}
};
