import type {Snapshot} from './click-stream-store.ts';

/** The longest gap in transactions that a reconnecting listener is replayed; a click is one. */
const MOST_TRANSACTIONS = 100_000n;

type Parts = {xmin: bigint; xmax: bigint};

/** The bounds of a snapshot, or null for a text that PostgreSQL would reject; `resumableFrom` bounds them. */
const parse = (text: string): Parts | null => {
	const [, least, most, list = ''] = /^(\d+):(\d+):((?:\d+,)*\d+)?$/.exec(text) ?? [];
	if (least === undefined || most === undefined) {
		return null;
	}

	const [xmin, xmax] = [BigInt(least), BigInt(most)];
	const underWay = list === '' ? [] : list.split(',').map(BigInt);
	const isOrdered = underWay.every((id, index) => id >= xmin && id < xmax && id > (underWay[index - 1] ?? 0n));
	return xmin > 0n && xmin <= xmax && isOrdered ? {xmin, xmax} : null;
};

/**
 * The cursor that a listener may resume from. Null if it belongs to another database, or is so old that starting afresh
 * shows more.
 */
export const resumableFrom = (cursor: string, now: Snapshot): Snapshot | null => {
	const [then, present] = [parse(cursor), parse(now)];
	if (then === null || present === null) {
		return null;
	}

	return then.xmax <= present.xmax && present.xmax - then.xmin <= MOST_TRANSACTIONS ? cursor : null;
};
