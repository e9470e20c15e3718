import type {Snapshot} from './click-stream-store.ts';

/** Transactions that are read again for who was away; a click is one. */
const MOST_TRANSACTIONS = 100_000n;

type Parts = {xmin: bigint; xmax: bigint};

/** The bounds of a snapshot, or null for what PostgreSQL would not read as one. */
const parse = (text: string): Parts | null => {
	const [, least, most, list = ''] = /^(\d{1,18}):(\d{1,18}):((?:\d{1,18},)*\d{1,18})?$/.exec(text) ?? [];
	if (least === undefined || most === undefined) {
		return null;
	}

	const [xmin, xmax] = [BigInt(least), BigInt(most)];
	const underWay = list === '' ? [] : list.split(',').map(BigInt);
	const isOrdered = underWay.every((id, index) => id >= xmin && id < xmax && id > (underWay[index - 1] ?? 0n));
	return xmin > 0n && xmin <= xmax && isOrdered ? {xmin, xmax} : null;
};

/**
 * The position that a listener may go on from: the cursor that it was sent, or null where it is none of this database,
 * or so old that beginning anew tells more.
 */
export const resumableFrom = (cursor: string, now: Snapshot): Snapshot | null => {
	const [then, present] = [parse(cursor), parse(now)];
	if (then === null || present === null) {
		return null;
	}

	return then.xmax <= present.xmax && present.xmax - then.xmin <= MOST_TRANSACTIONS ? cursor : null;
};
