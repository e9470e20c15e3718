import {behaviour, type MarketName, type Scenario, type Whereabouts} from './parameters.ts';
import type {Random} from './random.ts';

/** Where a phone is on the network: its IPv4 address by number, and its /64 by number where there is one. */
export type Spot = {kind: Whereabouts | 'relay'; v4: number; v6: number | null};

/** One connection's address, and the network around it: /24 of IPv4; /64, and /56 around it, of IPv6. */
export type Address = {ip: string; net: string};

export const addressOf = ({v4, v6}: Spot, random: Random): Address =>
	v6 !== null && random.chance(behaviour.prefersIPv6)
		? {ip: `6:${v6}`, net: `6:${Math.floor(v6 / 256)}`}
		: {ip: `4:${v4}`, net: `4:${Math.floor(v4 / 256)}`};

/** For each group gives the same thing out until it is full, and then makes another. */
const createFilling = <T>(size: number, make: () => T): ((group: string) => T) => {
	const filled = new Map<string, {left: number; current: T}>();
	return (group) => {
		const before = filled.get(group);
		const {left, current} = before === undefined || before.left === 0 ? {left: size, current: make()} : before;
		filled.set(group, {left: left - 1, current});
		return current;
	};
};

/**
 * The addresses of a scenario. A carrier's lie side by side, and so do the homes of one street. A street, a shared place
 * and an exit of Private Relay, which keeps the timezone of its people, are in one timezone. A carrier's addresses are in one
 * country, all of whose zones they serve, because few gateways lead to the internet; a VPN's exit serves all countries.
 */
export const createWorld = (random: Random, {people, markets, whereabouts, peoplePer, reused, ipv6}: Scenario) => {
	let last = 2 ** 24;
	let lastPrefix = 0;
	const nextV4 = (step: number): number => {
		last += step;
		return last - step;
	};
	const prefix = (share: number): number | null => {
		lastPrefix += 256;
		return random.chance(share) ? lastPrefix : null;
	};
	const weights = markets.reduce((sum, [, weight]) => sum + weight, 0);
	const carriers = new Map(
		markets.map(([name, weight]) => {
			const size = Math.max(1, Math.round((people * weight) / weights / peoplePer.carrier));
			return [name, {base: nextV4(2 ** 16), size}] as const;
		}),
	);
	const filling = (kind: Spot['kind'], size: number) =>
		createFilling<Spot>(size, () => ({kind, v4: nextV4(256), v6: prefix(ipv6 / 5)}));
	const streets = createFilling(8, () => ({base: nextV4(256), homes: 0}));

	return {
		/** A home by the day. A reused address is that of another home of the street tomorrow. */
		home: (zone: string): ((day: number) => Spot) => {
			const street = streets(zone);
			const [house, v6] = [street.homes, prefix(ipv6)];
			street.homes += 1;
			const isReused = random.chance(reused);
			return (day) => ({kind: 'home', v4: street.base + (isReused ? (house + day) % 8 : house) * 4, v6});
		},
		shared: filling('shared', peoplePer.shared),
		vpn: filling('vpn', peoplePer.vpn),
		relay: filling('relay', behaviour.relay.peoplePer),
		/** A place on the carrier's network as it is given out now. */
		carrier: (country: MarketName, hasV6: boolean): Spot => {
			const {base, size} = carriers.get(country) ?? {base: last, size: 1};
			return {
				kind: 'carrier',
				v4: base + random.below(size),
				v6: hasV6 ? 2 ** 31 + random.below(2 ** 31) : null,
			};
		},
		kinds: (Object.keys(whereabouts) as Whereabouts[]).map((kind) => [kind, whereabouts[kind]] as const),
	};
};

export type World = ReturnType<typeof createWorld>;
