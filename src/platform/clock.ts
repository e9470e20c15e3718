export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The source of the current time; tests pass a clock that they set themselves. */
export type Clock = {now(): Date};

/**
 * The machine's clock, shifted by `offsetSeconds` (CLOCK_OFFSET, contract/operations 8). The only place that reads the
 * time, because a simulated expiry must affect everything at once.
 */
export const createClock = (offsetSeconds: number): Clock => ({
	now: () => new Date(Date.now() + offsetSeconds * 1000),
});
