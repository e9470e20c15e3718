import {behaviour, type Scenario, type Whereabouts} from './parameters.ts';
import type {Random} from './random.ts';

/** Where a phone is on the network: its IPv4 address by number, and its /64 by number where there is one. */
export type Spot = {kind: Whereabouts | 'relay'; v4: number; v6: number | null};

/** One connection's address, and the network around it: /24 of IPv4; /64, and /56 around it, of IPv6. */
export type Address = {ip: string; net: string};

export const addressOf = ({v4, v6}: Spot, random: Random): Address =>
	v6 !== null && random.chance(behaviour.prefersIPv6)
		? {ip: `6:${v6}`, net: `6:${Math.floor(v6 / 256)}`}
		: {ip: `4:${v4}`, net: `4:${Math.floor(v4 / 256)}`};

/** Gives the same thing out until it is full, and then makes another. */
const createFilling = <T>(size: number, make: () => T): (() => T) => {
	let left = 0;
	let current = make();
	return () => {
		if (left < 1) {
			current = make();
			left = size;
		}

		left -= 1;
		return current;
	};
};

/** The addresses of a scenario. A carrier's lie side by side, and so do the homes of one street. */
export const createWorld = (random: Random, {people, whereabouts, peoplePer, reused, ipv6}: Scenario) => {
	let last = 2 ** 24;
	let lastPrefix = 0;
	const nextV4 = (step: number): number => {
		last += step;
		return last;
	};
	const prefix = (share: number): number | null => {
		lastPrefix += 256;
		return random.chance(share) ? lastPrefix : null;
	};
	const carrierSize = Math.max(1, Math.round(people / peoplePer.carrier));
	const carrierBase = nextV4(2 ** 16);
	const filling = (kind: Spot['kind'], size: number) =>
		createFilling<Spot>(size, () => ({kind, v4: nextV4(256), v6: prefix(ipv6 / 5)}));
	const street = createFilling(8, () => nextV4(256));
	let homes = 0;

	return {
		/** A home by the day. A reused address is that of another home of the street tomorrow. */
		home: (): ((day: number) => Spot) => {
			homes += 1;
			const [base, house, v6] = [street(), homes % 8, prefix(ipv6)];
			const isReused = random.chance(reused);
			return (day) => ({kind: 'home', v4: base + (isReused ? (house + day) % 8 : house) * 4, v6});
		},
		shared: filling('shared', peoplePer.shared),
		vpn: filling('vpn', peoplePer.vpn),
		relay: filling('relay', behaviour.relay.peoplePer),
		/** A place on the carrier's network as it is given out now. */
		carrier: (hasV6: boolean): Spot => ({
			kind: 'carrier',
			v4: carrierBase + random.below(carrierSize),
			v6: hasV6 ? 2 ** 31 + random.below(2 ** 31) : null,
		}),
		kinds: (Object.keys(whereabouts) as Whereabouts[]).map((kind) => [kind, whereabouts[kind]] as const),
	};
};

export type World = ReturnType<typeof createWorld>;
