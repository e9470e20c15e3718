import {createHash} from 'node:crypto';

/** Slots of the table at first; it grows by two where it is more than half full. */
const FIRST_SLOTS = 2 ** 14;

const digestOf = (text: string): Buffer => createHash('sha1').update(text).digest();

/** 48 bits of a hash, never 0: that two of a million codes share them is a chance of 1 in 500. */
const codeHash = (shortCode: string): number => digestOf(shortCode).readUIntBE(0, 6) || 1;
const contentHash = (content: string): number => digestOf(content).readUInt32BE();

/**
 * Remembers short codes with what their rows say and where they stand, in 32 to 64 bytes a row: a million rows may not be
 * held, and two rows of an export for one code are two links of which one would be lost silently.
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
		/** The line of an earlier row for the same code that says something else; null where there is none. */
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
