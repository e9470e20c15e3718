/** At most `max` requests in any `windowSeconds`, counted per caller's address or per API key. */
export type Limit = {
	name: string;
	max: number;
	windowSeconds: number;
	per: 'ip' | 'key';
	/**
	 * How many of a subject a process admits in a window without asking who keeps the windows, so that the answer to a
	 * usual visitor waits for nobody; they are counted all the same (`createFreeAdmissions`). Absent: none.
	 */
	free?: number;
};

const SECOND = 1;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;

/** The limits of contract/limits 1; a route without one is unlimited. Routes that share an entry share its bucket. */
export const limits = {
	resolution: {name: 'resolution', max: 500, windowSeconds: SECOND, per: 'ip', free: 5},
	match: {name: 'match', max: 30, windowSeconds: MINUTE, per: 'ip'},
	linkReads: {name: 'linkReads', max: 1000, windowSeconds: SECOND, per: 'key'},
	linkWrites: {name: 'linkWrites', max: 100, windowSeconds: SECOND, per: 'key'},
	sdkDevices: {name: 'sdkDevices', max: 60, windowSeconds: MINUTE, per: 'key'},
	sdkEvents: {name: 'sdkEvents', max: 600, windowSeconds: MINUTE, per: 'key'},
	portal: {name: 'portal', max: 30, windowSeconds: SECOND, per: 'ip'},
	regenerateKey: {name: 'regenerateKey', max: 5, windowSeconds: HOUR, per: 'ip'},
} as const satisfies Record<string, Limit>;

/** What is left undone past a limit, where the request is answered all the same: new devices of an address by `/data`. */
export const allowances = {
	visitDevices: {name: 'visitDevices', max: 200, windowSeconds: DAY, per: 'ip'},
} as const satisfies Record<string, Limit>;

const byName: ReadonlyMap<string, Limit> = new Map(
	[...Object.values(limits), ...Object.values(allowances)].map((limit) => [limit.name, limit]),
);

/** The limit of that name, as processes of one version name it to each other. */
export const limitNamed = (name: string): Limit => {
	const found = byName.get(name);
	if (found === undefined) {
		throw new Error(`unknown limit ${name}`);
	}

	return found;
};
