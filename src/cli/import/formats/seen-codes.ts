import {createHash} from 'node:crypto';

/** Initial slots of the table, which doubles when it is more than half full. */
const FIRST_SLOTS = 2 ** 14;

const digestOf = (text: string): Buffer => createHash('sha1').update(text).digest();

/** 48 bits of a hash, never 0. The chance that two of a million codes collide is 1 in 500. */
const codeHash = (shortCode: string): number => digestOf(shortCode).readUIntBE(0, 6) || 1;
const contentHash = (content: string): number => digestOf(content).readUInt32BE();

/**
 * Detects repeated short codes, in 32 to 64 bytes per row, because a million rows must not be held in memory. Two rows
 * of an export with one code are two links, one of which would be lost silently.
 */
export const createSeenCodes = () => {
	let codes = new Float64Array(FIRST_SLOTS);
	let contents = new Uint32Array(FIRST_SLOTS);
	let lines = new Uint32Array(FIRST_SLOTS);
	let count = 0;

	const slotOf = (code: number): number => {
		let slot = code % codes.length;
		while (codes[slot] !== 0 && codes[slot] !== code) {
			slot = (slot + 1) % codes.length;
		}

		return slot;
	};

	const put = (code: number, content: number, line: number): void => {
		const slot = slotOf(code);
		codes[slot] = code;
		contents[slot] = content;
		lines[slot] = line;
	};

	const grow = (): void => {
		const [oldCodes, oldContents, oldLines] = [codes, contents, lines];
		codes = new Float64Array(oldCodes.length * 2);
		contents = new Uint32Array(codes.length);
		lines = new Uint32Array(codes.length);
		for (const [index, code] of oldCodes.entries()) {
			if (code !== 0) {
				put(code, oldContents[index] ?? 0, oldLines[index] ?? 0);
			}
		}
	};

	return {
		/** The line of an earlier, different row with the same code; null if there is none. */
		conflict: (shortCode: string, content: string, line: number): number | null => {
			const [code, said] = [codeHash(shortCode), contentHash(content)];
			const slot = slotOf(code);
			if (codes[slot] === code) {
				return contents[slot] === said ? null : (lines[slot] ?? null);
			}

			put(code, said, line);
			count += 1;
			if (count * 2 > codes.length) {
				grow();
			}

			return null;
		},
	};
};

export type SeenCodes = ReturnType<typeof createSeenCodes>;
