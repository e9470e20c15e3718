import {randomFillSync} from 'node:crypto';

/** Random bytes are asked of the system so many at a time: a call for each of the few that a page takes costs more. */
const pool = Buffer.allocUnsafeSlow(8192);
let used = pool.length;

/** Bytes from the system's random source, each given once. To be read at once: the next call may write over them. */
export const randomPooled = (length: number): Buffer => {
	if (used + length > pool.length) {
		randomFillSync(pool);
		used = 0;
	}

	used += length;
	return pool.subarray(used - length, used);
};
