import type {Metro} from './metros.ts';
import {networks} from './population.ts';
import type {Random} from './random.ts';

export type NetworkKind =
	| 'home'
	| 'home behind carrier NAT'
	| 'carrier'
	| 'office'
	| 'campus'
	| 'public Wi-Fi'
	| 'event'
	| 'VPN'
	| 'relay';

/** Where a phone is on the network: its IPv4 address, and its /64 by number where there is one. */
export type Spot = {kind: NetworkKind; v4: string; v6: number | null};

/** One carrier in one place: all its IPv4 addresses lie side by side. */
type Pool = {base: number; active: number; perAddress: number};
export type Subscription = {pool: Pool; hasIPv6: boolean};

export type World = {
	home: (metro: Metro) => Spot;
	office: (metro: Metro) => Spot;
	campus: (metro: Metro) => Spot;
	publicWifi: (metro: Metro) => Spot;
	event: (metro: Metro) => Spot;
	vpnExit: () => Spot;
	relayExit: (metro: Metro) => Spot;
	subscribe: (metro: Metro) => Subscription;
	/** A place on the carrier's network as it is given out now. Ask when everybody has subscribed. */
	attach: (subscription: Subscription) => Spot;
};

const FIRST_V4 = 20 * 2 ** 24;
const POOL = 2 ** 14;

const dotted = (address: number): string =>
	[24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');

/** The address of one connection: a phone's lower 64 bits change all the time. */
export const addressOf = ({v4, v6}: Spot, random: Random): string => {
	if (v6 === null || !random.chance(networks.prefersIPv6.value)) {
		return v4;
	}

	const word = () => random.below(65_536).toString(16);
	const prefix = [Math.floor(v6 / 65_536), v6 % 65_536].map((part) => part.toString(16)).join(':');
	return `2001:db8:${prefix}:${word()}:${word()}:${word()}:${word()}`;
};

/** Gives the same thing out until it is full, for each place apart, and then makes another. */
const createFilling = <T>(make: () => {thing: T; size: number}): ((metro: Metro | null) => T) => {
	const open = new Map<Metro | null, {thing: T; left: number}>();
	return (metro) => {
		let current = open.get(metro);
		if (current === undefined || current.left < 1) {
			const {thing, size} = make();
			current = {thing, left: Math.max(1, Math.round(size))};
			open.set(metro, current);
		}

		current.left -= 1;
		return current.thing;
	};
};

/** @param crowding how many times more people share each shared address than `networks` says. */
export const createWorld = (random: Random, crowding: number): World => {
	let lastV4 = FIRST_V4;
	let lastPrefix = 0;
	const nextV4 = (step = 256): string => {
		lastV4 += step;
		return dotted(lastV4);
	};
	const nextPrefix = (): number => {
		lastPrefix += 256;
		return lastPrefix;
	};
	const shared = (kind: NetworkKind, size: () => number, ipv6Share: number) =>
		createFilling<Spot>(() => ({
			thing: {kind, v4: nextV4(), v6: random.chance(ipv6Share) ? nextPrefix() : null},
			size: size() * crowding,
		}));
	const {office, campus, publicWifi, event, vpn, relay} = networks;
	const sized =
		({value: {median, spread}}: {value: {median: number; spread: number}}) =>
		(): number =>
			random.logNormal(median, spread);

	const behindNat = shared('home behind carrier NAT', () => networks.activePerHomeNatAddress.value, 0);
	const pools = new Map<Metro, Pool[]>();
	const poolsOf = (metro: Metro): Pool[] => {
		const known = pools.get(metro);
		if (known !== undefined) {
			return known;
		}

		const made = networks.activePerCarrierAddress.value.map((perAddress) => {
			lastV4 = Math.ceil(lastV4 / 256) * 256 + POOL;
			return {base: lastV4 - POOL, active: 0, perAddress: perAddress * crowding};
		});
		pools.set(metro, made);
		return made;
	};

	return {
		home: (metro) => {
			const v6 = random.chance(networks.homeHasIPv6.value) ? nextPrefix() : null;
			if (random.chance(networks.homeBehindCarrierNat.value)) {
				return {...behindNat(metro), v6};
			}

			const meanStep = 256 / networks.activeHomesPer24.value;
			return {kind: 'home', v4: nextV4(1 + random.below(2 * meanStep)), v6};
		},
		office: shared('office', sized(office), 0.2),
		campus: shared('campus', sized(campus), 0.3),
		publicWifi: shared('public Wi-Fi', sized(publicWifi), 0.1),
		event: shared('event', sized(event), 0.1),
		vpnExit: (() => {
			const exit = shared('VPN', () => vpn.value.activePerExit, 0);
			return () => exit(null);
		})(),
		relayExit: shared('relay', () => relay.value.activePerExit, 0.5),
		subscribe: (metro) => {
			const pool = poolsOf(metro)[random.below(networks.activePerCarrierAddress.value.length)];
			if (pool === undefined) {
				throw new Error('a place has carriers');
			}

			pool.active += 1;
			return {pool, hasIPv6: random.chance(networks.carrierHasIPv6.value)};
		},
		attach: ({pool, hasIPv6}) => ({
			kind: 'carrier',
			v4: dotted(pool.base + random.below(Math.max(1, Math.round(pool.active / pool.perAddress)))),
			v6: hasIPv6 ? 2 ** 31 + random.below(2 ** 31) : null,
		}),
	};
};
