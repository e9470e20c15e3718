import {hash} from 'node:crypto';
import {setImmediate as turn} from 'node:timers/promises';

const BUCKETS = 256;
const BUCKETS_PER_TURN = 8;
const BYTES_PER_HASH = 8;

/** The first 64 bits of SHA-256: a stranger's host collides with an entry of 2,000,000 with a chance of 1e-13. */
export const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');

/** A number of a list's hashes, in growing memory. */
export class Hashes {
	bytes = Buffer.alloc(BYTES_PER_HASH * 1024);
	count = 0;

	add(text: string): void {
		const at = this.count * BYTES_PER_HASH;
		if (at === this.bytes.length) {
			const larger = Buffer.alloc(this.bytes.length * 2);
			this.bytes.copy(larger);
			this.bytes = larger;
		}

		digestOf(text).copy(this.bytes, at, 0, BYTES_PER_HASH);
		this.count += 1;
	}

	/** The numbers in order: by their first byte into buckets, each sorted by the engine, with turns for other work. */
	async sorted(): Promise<BigUint64Array> {
		const {bytes, count} = this;
		const lengths = new Uint32Array(BUCKETS);
		for (let index = 0; index < count; index += 1) {
			const bucket = bytes[index * BYTES_PER_HASH + BYTES_PER_HASH - 1] ?? 0;
			lengths[bucket] = (lengths[bucket] ?? 0) + 1;
		}

		await turn();
		const starts = new Uint32Array(BUCKETS + 1);
		for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
			starts[bucket + 1] = (starts[bucket] ?? 0) + (lengths[bucket] ?? 0);
		}

		const numbers = new BigUint64Array(count);
		const target = Buffer.from(numbers.buffer);
		const next = starts.slice();
		for (let index = 0; index < count; index += 1) {
			const from = index * BYTES_PER_HASH;
			const bucket = bytes[from + BYTES_PER_HASH - 1] ?? 0;
			const place = next[bucket] ?? 0;
			next[bucket] = place + 1;
			bytes.copy(target, place * BYTES_PER_HASH, from, from + BYTES_PER_HASH);
			if (index % 100_000 === 0) {
				await turn();
			}
		}

		for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
			numbers.subarray(starts[bucket], starts[bucket + 1]).sort();
			if (bucket % BUCKETS_PER_TURN === 0) {
				await turn();
			}
		}

		return numbers;
	}
}
