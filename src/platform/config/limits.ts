import ipaddr from 'ipaddr.js';

/** At most `max` requests in any `windowSeconds`, counted per caller's address, API key, or device of an organization. */
export type Limit = {
	name: string;
	max: number;
	windowSeconds: number;
	per: 'ip' | 'key' | 'device';
	/** Counts only requests whose body is, or may be, larger; a smaller body costs no more than a page. */
	aboveBytes?: number;
};

const SECOND = 1;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;

/** The limits of contract/requests 13; a route without one is unlimited. Routes that share an entry share its bucket. */
export const limits = {
	resolution: {name: 'resolution', max: 500, windowSeconds: SECOND, per: 'ip'},
	match: {name: 'match', max: 30, windowSeconds: MINUTE, per: 'ip'},
	linkReads: {name: 'linkReads', max: 1000, windowSeconds: SECOND, per: 'key'},
	linkWrites: {name: 'linkWrites', max: 100, windowSeconds: SECOND, per: 'key'},
	sdkDevices: {name: 'sdkDevices', max: 60, windowSeconds: MINUTE, per: 'key'},
	sdkEvents: {name: 'sdkEvents', max: 600, windowSeconds: MINUTE, per: 'key'},
	sdkLinks: {name: 'sdkLinks', max: 600, windowSeconds: MINUTE, per: 'key'},
	portal: {name: 'portal', max: 30, windowSeconds: SECOND, per: 'ip'},
	documents: {name: 'documents', max: 10, windowSeconds: SECOND, per: 'ip'},
	webhooks: {name: 'webhooks', max: 100, windowSeconds: SECOND, per: 'ip', aboveBytes: 16 * 1024},
	reports: {name: 'reports', max: 5, windowSeconds: HOUR, per: 'ip'},
	regenerateKey: {name: 'regenerateKey', max: 5, windowSeconds: HOUR, per: 'ip'},
} as const satisfies Record<string, Limit>;

/** Limits that an operation counts, because they need the body. */
export const bodyLimits = {
	sdkDeviceLinks: {name: 'sdkDeviceLinks', max: 20, windowSeconds: MINUTE, per: 'device'},
} as const satisfies Record<string, Limit>;

/** Limits of side effects; the request is answered anyway: `/data` registers no more devices of the address. */
export const allowances = {
	visitDevices: {name: 'visitDevices', max: 200, windowSeconds: DAY, per: 'ip'},
} as const satisfies Record<string, Limit>;

/** The limits that a plan may set: those per key or device, since an address belongs to no organization. */
export const planLimitNames: readonly string[] = [limits, bodyLimits]
	.flatMap((table): Limit[] => Object.values(table))
	.filter(({per}) => per !== 'ip')
	.map(({name}) => name);

/** The limits that a plans file sets, by name (contract/requests 16). */
export type PlanLimits = Readonly<Record<string, {max: number; seconds: number}>>;

/** The limit that an organization's plan sets. Its windows have a name of their own. */
export const limitOfPlan = (limit: Limit, own: PlanLimits | undefined): Limit => {
	const set = own?.[limit.name];
	return set === undefined
		? limit
		: {...limit, name: `${limit.name}@${set.max}/${set.seconds}`, max: set.max, windowSeconds: set.seconds};
};

/**
 * The subject of a limit per address. One IPv6 caller owns at least a /64 and may use any address in it, so the
 * /64 counts as one (`2001:db8:1:2::/64`); an IPv4 address, also one mapped into IPv6, counts as itself.
 */
export const limitSubjectOf = (ip: string): string => {
	if (!ip.includes(':')) {
		return ip;
	}

	const address = ipaddr.process(ip);
	return address instanceof ipaddr.IPv6
		? `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`
		: address.toString();
};
