import {randomBytes} from 'node:crypto';

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const CODES = Buffer.from(ALPHANUMERIC);

/** `length` characters of base 62, each from the system's random source. */
export const randomAlphanumeric = (length: number): string => {
	const text = Buffer.allocUnsafe(length);
	for (let written = 0; written < length; ) {
		for (const byte of randomBytes(length - written)) {
			// Bytes above the last whole multiple of 62 would bias some characters.
			if (byte < 248) {
				text[written] = CODES[byte % 62] ?? 0;
				written += 1;
			}
		}
	}

	return text.toString('latin1');
};
