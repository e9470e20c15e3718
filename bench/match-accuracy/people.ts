import {behaviour, type MarketName, markets, type Scenario, sight} from './parameters.ts';
import {createPhones, type Phone} from './phones.ts';
import type {Random} from './random.ts';
import type {Spot, World} from './world.ts';

export type Person = {
	id: number;
	phone: Phone;
	/** What the system and the browser say, and what the app says. */
	language: string;
	appLanguage: string;
	/** `v8`: as Chromium names it. */
	zone: {zone: string; v8?: string};
	/** Where they are. */
	country: MarketName;
	home: (day: number) => Spot;
	shared: Spot;
	vpn: Spot;
	hasCarrierV6: boolean;
	usesRelay: boolean;
	/** Who takes part of the same household and was there before. */
	housemateOf: Person | null;
};

const appLanguageOf = (random: Random, language: string): string => {
	const [primary = 'en', region = 'US'] = language.split('-');
	switch (random.pick(sight.appLanguage)) {
		case 'same':
			return language;
		case 'other region':
			return `${primary}-${region === 'US' ? 'GB' : 'US'}`;
		case 'no region':
			return primary;
		case 'English':
			return `en-${region}`;
	}
};

/** @returns everybody who clicks or installs in the week, household by household. */
export const createPeople = (random: Random, world: World, scenario: Scenario, count: number): Person[] => {
	const people: Person[] = [];
	const phones = createPhones(random, scenario.models);
	const handedOut = new Map<number, Phone | null>();
	type Place = Pick<Person, 'country' | 'zone' | 'home'>;
	const add = (first: Person | null, name: MarketName, {country, zone, home}: Place): Person => {
		const {ios, languages} = markets[name];
		const isSame = (share: number): boolean => first !== null && random.chance(share);
		const own = phones.phone(random.chance(ios) ? 'ios' : 'android');
		const shared = world.shared(zone.zone);
		if (!handedOut.has(shared.v4)) {
			handedOut.set(shared.v4, random.chance(scenario.equalPhones) ? own : null);
		}

		const like = first !== null && isSame(scenario.housemateSameModel) ? first.phone : null;
		const version =
			like && (random.chance(scenario.housemateSameVersion) ? like.version : phones.version(like.platform));
		const phone = handedOut.get(shared.v4) ?? (like && version ? {...like, version} : own);
		const language =
			first !== null && isSame(behaviour.housemateSameLanguage) ? first.language : random.pick(languages);
		const person: Person = {
			id: people.length,
			phone,
			language,
			appLanguage: appLanguageOf(random, language),
			zone,
			country,
			home,
			shared,
			vpn: world.vpn('everywhere'),
			hasCarrierV6: random.chance(scenario.ipv6),
			usesRelay: phone.platform === 'ios' && random.chance(behaviour.relay.iphones),
			housemateOf: first,
		};
		people.push(person);
		return person;
	};

	while (people.length < count) {
		const name = random.pick(scenario.markets);
		const country = random.chance(scenario.abroad) ? random.pick(scenario.markets) : name;
		const zone = random.pick<Person['zone']>(markets[country].zones);
		const place = {country, zone, home: world.home(zone.zone)};
		const first = add(null, name, place);
		for (let others = random.pick(scenario.housemates); others > 0; others -= 1) {
			add(first, name, place);
		}
	}

	return people;
};
