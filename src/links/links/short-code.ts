/** The longest short code (contract/hosts 5). */
export const MAX_SHORT_CODE = 64;

// The same characters and length in three forms: test/hostile proves literals to be linear.
const SHORT_CODE = /^[A-Za-z0-9_-]{1,64}$/;

/** A text of a short code's characters, of any length. */
export const SHORT_CODE_CHARACTERS = /^[A-Za-z0-9_-]*$/;

/** The path of a link, or of its data, on the shared link domain: orgKey, short code, `/data`. */
export const LINK_PATH = /^\/([A-Za-z0-9]{4})\/([A-Za-z0-9_-]{1,64})(\/data)?$/;

/** Whether a link may have this code. */
export const isShortCode = (text: string): boolean => SHORT_CODE.test(text);
