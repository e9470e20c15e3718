import type {Addresses} from '../../platform/config/config.ts';

/** The longest short code (contract/hosts 5). */
export const MAX_SHORT_CODE = 64;

// The same characters and length in two forms: test/hostile proves literals to be linear.
const SHORT_CODE = /^[A-Za-z0-9_-]{1,64}$/;

/** A text of a short code's characters, of any length. */
export const SHORT_CODE_CHARACTERS = /^[A-Za-z0-9_-]*$/;

/** Whether a link may have this code. */
export const isShortCode = (text: string): boolean => SHORT_CODE.test(text);

/** The short URL; on a custom domain it has the orgKey too (contract/links 3), and https. */
export const shortUrl = (
	{linkScheme, linkDomain}: Addresses,
	{hostname, orgKey, shortCode}: {hostname: string | null; orgKey: string; shortCode: string},
): string =>
	hostname === null
		? `${linkScheme}://${linkDomain}/${orgKey}/${shortCode}`
		: `https://${hostname}/${orgKey}/${shortCode}`;
