import type {Metro} from './metros.ts';
import type {Spot, Subscription, World} from './networks.ts';
import {type Model, phoneShares} from './phones.ts';
import {networks, places, sight} from './population.ts';
import type {Random} from './random.ts';

export type Phone = {platform: 'ios' | 'android'; isTablet: boolean; model: Model; osVersion: string};

export type Person = {
	id: number;
	metro: Metro;
	phone: Phone;
	/** What the system and the browser say. */
	language: string;
	/** What the app says. */
	appLanguage: string;
	home: Spot;
	work: Spot | null;
	subscription: Subscription;
	usesVpn: boolean;
	usesRelay: boolean;
	/** The household's number, and whether another of it was there before. */
	household: number;
	isHousemate: boolean;
};

const makePhone = (random: Random, platform: Phone['platform']): Phone => {
	const isTablet = platform === 'ios' && random.chance(phoneShares.iPadShareOfIos.value);
	const kind = platform === 'android' ? 'androids' : isTablet ? 'iPads' : 'iPhones';
	const versions = platform === 'ios' ? phoneShares.iosVersions : phoneShares.androidVersions;
	return {platform, isTablet, model: random.pick(phoneShares[kind].value), osVersion: random.pick(versions.value)};
};

const appLanguageOf = (random: Random, language: string, metro: Metro): string => {
	const [primary = 'en', region = ''] = language.split('-');
	switch (random.pick(sight.appLanguage.value)) {
		case 'same':
			return language;
		case 'other region':
			return `${primary}-${random.pick(sight.otherRegions.value)}`;
		case 'no region':
			return primary;
		case 'English':
			return `en-${region || 'US'}`;
		case 'another':
			return random.pick(metro.languages);
	}
};

/** The phones that one company hands out. */
const createCompanyPhones = (random: Random) => {
	const phones = new Map<Spot, Phone | null>();
	return (office: Spot, own: Phone): Phone => {
		const known = phones.get(office);
		if (known !== undefined) {
			return known ?? own;
		}

		const handedOut = random.chance(networks.officeHasEqualPhones.value) ? makePhone(random, own.platform) : null;
		phones.set(office, handedOut);
		return handedOut ?? own;
	};
};

/** @returns everybody who clicks or installs in the week, household by household. */
export const createPeople = (random: Random, world: World, count: number): Person[] => {
	const people: Person[] = [];
	const companyPhone = createCompanyPhones(random);
	const add = (household: number, metro: Metro, home: Spot, first: Person | null): Person => {
		const isLike = (share: {value: number}) => first !== null && random.chance(share.value);
		const platform =
			first !== null && isLike(places.housemateSamePlatform)
				? first.phone.platform
				: random.chance(metro.iosShare)
					? 'ios'
					: 'android';
		const own = makePhone(random, platform);
		const isEqual = first?.phone.platform === platform && isLike(places.housemateSameModel);
		const sameModel =
			first === null || !isEqual ? own : {...own, isTablet: first.phone.isTablet, model: first.phone.model};
		const phone =
			isEqual && isLike(places.housemateSameVersion) ? {...sameModel, osVersion: first.phone.osVersion} : sameModel;
		const language =
			first !== null && isLike(places.housemateSameLanguage) ? first.language : random.pick(metro.languages);
		const work = random.chance(networks.office.value.share)
			? world.office(metro)
			: random.chance(networks.campus.value.share)
				? world.campus(metro)
				: null;
		const person: Person = {
			id: people.length,
			metro,
			phone: work?.kind === 'office' ? companyPhone(work, phone) : phone,
			language,
			appLanguage: appLanguageOf(random, language, metro),
			home,
			work,
			subscription: world.subscribe(metro),
			usesVpn: random.chance(networks.vpn.value.share),
			usesRelay: phone.platform === 'ios' && random.chance(networks.relay.value.shareOfIphones),
			household,
			isHousemate: first !== null,
		};
		people.push(person);
		return person;
	};

	for (let household = 0; people.length < count; household += 1) {
		const metro = random.pick(places.metros.value);
		const home = world.home(metro);
		const first = add(household, metro, home, null);
		const others = random.pick(places.householdSize.value) - 1;
		for (let other = 0; other < others; other += 1) {
			if (random.chance(places.housemateTakesPart.value)) {
				add(household, metro, home, first);
			}
		}
	}

	return people;
};
