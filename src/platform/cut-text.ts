/**
 * The beginning of a text: at most that many units of UTF-16, without half a surrogate pair at its end, which would be stored
 * as U+FFFD.
 */
export const cutText = (text: string, max: number): string =>
	text.slice(0, (text.codePointAt(max - 1) ?? 0) > 0xffff ? max - 1 : max);
