import {randomFillSync} from 'node:crypto';

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const CODES = Buffer.from(ALPHANUMERIC);

// Drawn for many texts at once, because a draw takes 2 µs whatever its size. Each byte is used once.
const drawn = Buffer.alloc(4096);
let used = drawn.length;

const randomByte = (): number => {
	if (used === drawn.length) {
		randomFillSync(drawn);
		used = 0;
	}

	const byte = drawn[used] ?? 0;
	drawn[used] = 0;
	used += 1;
	return byte;
};

/** `length` characters of base 62, each from the system's random source. */
export const randomAlphanumeric = (length: number): string => {
	const text = Buffer.allocUnsafe(length);
	for (let written = 0; written < length; ) {
		const byte = randomByte();
		// Bytes above the last whole multiple of 62 would bias some characters.
		if (byte < 248) {
			text[written] = CODES[byte % 62] ?? 0;
			written += 1;
		}
	}

	return text.toString('latin1');
};
