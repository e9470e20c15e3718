import type {Spot, World} from './networks.ts';
import type {Person} from './people.ts';
import {networks} from './population.ts';
import type {Random} from './random.ts';
import type {Visit} from './visit.ts';

/** Where people are on the network, and where they are some hours later. */
export const createMoves = (random: Random, world: World) => {
	const exits = new Map<number, Spot>();
	const exitOf = ({id}: Person): Spot => {
		const known = exits.get(id);
		if (known !== undefined && !random.chance(networks.vpn.value.newExit)) {
			return known;
		}

		const exit = world.vpnExit();
		exits.set(id, exit);
		return exit;
	};

	const whereIs = (person: Person): Spot => {
		if (person.usesVpn && random.chance(networks.vpn.value.inUse)) {
			return exitOf(person);
		}

		switch (random.pick(networks.whereabouts.value)) {
			case 'home':
				return person.home;
			case 'work':
				return person.work ?? person.home;
			case 'public':
				return world.publicWifi(person.metro);
			case 'carrier':
				return world.attach(person.subscription);
		}
	};

	/** A carrier gives a phone new addresses now and then. */
	const drift = (person: Person, spot: Spot, hours: number): Spot => {
		const keeps = ({value}: {value: number}) => random.chance(0.5 ** (hours / value));
		const fresh = world.attach(person.subscription);
		return {
			kind: 'carrier',
			v4: keeps(networks.carrierAddressHalfLife) ? spot.v4 : fresh.v4,
			v6: keeps(networks.carrierPrefixHalfLife) ? spot.v6 : fresh.v6,
		};
	};

	/** Wi-Fi is left for the carrier, and the carrier for the Wi-Fi at home, where apps are downloaded. */
	const moved = (person: Person, from: Spot, hours: number): Spot => {
		if (hours > 1) {
			return whereIs(person);
		}

		return from.kind === 'carrier' ? person.home : world.attach(person.subscription);
	};

	return {
		whereIs,
		after: (person: Person, from: Spot, hours: number): Spot => {
			const {atOnce, halfLife} = networks.staysPut.value;
			if (!random.chance(atOnce * 0.5 ** (hours / halfLife))) {
				return moved(person, from, hours);
			}

			if (from.kind === 'VPN') {
				return exitOf(person);
			}

			return from.kind === 'carrier' ? drift(person, from, hours) : from;
		},
		/** Whether a visit comes from a relay's address, wherever the phone is. */
		isRelayed: ({usesRelay}: Person, browser: Visit['browser']): boolean => usesRelay && browser === 'safari',
	};
};
