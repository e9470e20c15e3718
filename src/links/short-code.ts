/** The longest short code (contract/hosts 5). */
export const MAX_SHORT_CODE = 64;

const CHARACTER = '[A-Za-z0-9_-]';

/** A short code as a part of a regular expression. */
export const shortCodePattern = `${CHARACTER}{1,${MAX_SHORT_CODE}}`;

/** A text of a short code's characters, of any length. */
export const SHORT_CODE_CHARACTERS = new RegExp(`^${CHARACTER}*$`);

const SHORT_CODE = new RegExp(`^${shortCodePattern}$`);

/** Whether a link may have this code. */
export const isShortCode = (text: string): boolean => SHORT_CODE.test(text);
