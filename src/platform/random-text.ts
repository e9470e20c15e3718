import {randomInt} from 'node:crypto';

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `length` characters of base 62, each from the system's random source. */
export const randomAlphanumeric = (length: number): string => {
	let text = '';
	while (text.length < length) {
		text += ALPHANUMERIC.charAt(randomInt(ALPHANUMERIC.length));
	}

	return text;
};
