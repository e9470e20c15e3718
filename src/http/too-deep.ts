/** No body of ours is deeper by far; without a bound a small one could be deep enough to exhaust the stack. */
export const MAX_DEPTH = 64;

/** Whether a JSON value has more levels than any that we take, so that what walks it, or writes it, could run out of stack. */
export const isTooDeep = (value: unknown, levels = MAX_DEPTH): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(levels === 0 || Object.values(value).some((item) => isTooDeep(item, levels - 1)));
