/** Where every 'now' of the service comes from; tests pass one that they move themselves. */
export type Clock = {now(): Date};

/**
 * The machine's clock, moved by `offsetSeconds` (CLOCK_OFFSET, contract/config 3). The only place that reads the time,
 * so that a rehearsal of an expiry moves everything at once.
 */
export const createClock = (offsetSeconds: number): Clock => ({
	now: () => new Date(Date.now() + offsetSeconds * 1000),
});
