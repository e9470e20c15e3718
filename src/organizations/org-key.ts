import {randomBytes} from 'node:crypto';

export const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const CODES = Buffer.from(ALPHANUMERIC);

/** `length` characters of base 62, each drawn from the system's random source. */
export const randomAlphanumeric = (length: number): string => {
	const text = Buffer.allocUnsafe(length);
	for (let written = 0; written < length; ) {
		for (const byte of randomBytes(length - written)) {
			// The bytes above the last whole multiple of 62 would make some characters likelier than others.
			if (byte < 248) {
				text[written] = CODES[byte % 62] ?? 0;
				written += 1;
			}
		}
	}

	return text.toString('latin1');
};

/**
 * First path segments that are surfaces of their own (contract/hosts 3). A resolution path never begins with one, so an
 * unknown path under them is 404 and not a link.
 */
export const reservedSegments: ReadonlySet<string> = new Set([
	'links',
	'sdk',
	'match',
	'portal',
	'admin',
	'webhooks',
	'webhook',
	'dev',
	'health',
	'metrics',
	'openapi.json',
	'docs',
	'internal',
	'.well-known',
]);

/** What an orgKey looks like: exactly 4 alphanumeric characters, case-sensitive. */
export const ORG_KEY = /^[A-Za-z0-9]{4}$/;

/** A new orgKey, never a reserved segment. */
export const generateOrgKey = (): string => {
	for (;;) {
		const orgKey = randomAlphanumeric(4);
		if (!reservedSegments.has(orgKey)) {
			return orgKey;
		}
	}
};
