import type {MatchToken} from '../../src/clicks/open-match.ts';
import type {MatchFields} from '../../src/match/match-request.ts';
import {type Click, makeClick, makeOpen, type Open} from './events.ts';
import {createLinks} from './links.ts';
import {createMoves} from './moves.ts';
import {addressOf, createWorld, type Spot} from './networks.ts';
import {createPeople, type Person, type Phone} from './people.ts';
import {behaviour, networks, places, type Tenant, tenants, tokens} from './population.ts';
import {createRandom, type Random} from './random.ts';
import {chooseBrowser, type Visit, visitOnDesktop, visitOnPhone} from './visit.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
/** A Monday. */
const START = Date.UTC(2026, 2, 2);
const TOKEN_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const tokenOf = (random: Random): MatchToken =>
	`opl_${Array.from({length: 32}, () => TOKEN_LETTERS[random.below(TOKEN_LETTERS.length)]).join('')}` as MatchToken;

/** Hours from the click to the first open. */
const delayOf = (random: Random): number => {
	const {withinHour, withinDay, medianMinutes, spread} = behaviour.delay.value;
	const share = random.between(0, 1);
	if (share < withinHour) {
		return Math.min(60, Math.max(0.5, random.logNormal(medianMinutes, spread))) / 60;
	}

	return share < withinDay ? random.logUniform(1, 24) : random.logUniform(24, 167);
};

const timeOf = (random: Random, {metro}: Person): number => {
	const hour = random.pick(behaviour.hours.value.map((weight, index) => [index, weight] as const));
	const local = random.below(behaviour.days.value) * DAY + (hour + random.between(0, 1)) * HOUR;
	return START + local - metro.utcOffset * HOUR;
};

const updated = (random: Random, phone: Phone, days: number): string => {
	const {platform, osVersion} = phone;
	if (!random.chance(days * (platform === 'ios' ? behaviour.updatesIos : behaviour.updatesAndroid).value)) {
		return osVersion;
	}

	if (platform === 'android') {
		return String(Number(osVersion) + 1);
	}

	return osVersion === '26.3' ? '26.3.1' : Number(osVersion.split('.')[0]) >= 18 ? '26.3' : '18.7.4';
};

type Plan = {tenant: Tenant; linkId: string; at: number; spot: Spot};

/**
 * A week of clicks and first opens with their truth, in the order of time.
 * @param people how many click or install. @param crowding how many times more of them share each shared address.
 */
export const tellStory = ({people: count, seed, crowding}: {people: number; seed: number; crowding: number}) => {
	const random = createRandom(seed);
	const world = createWorld(random, crowding);
	const people = createPeople(random, world, count);
	const linkFor = createLinks(random);
	const moves = createMoves(random, world);
	const gatherings = new Map<Spot, Omit<Plan, 'spot'>>();
	const households = new Map<number, Plan>();
	const events: Array<Click | Open> = [];

	const gather = (person: Person): Plan => {
		const spot = world.event(person.metro);
		const tenant = random.pick(tenants.value);
		const made = gatherings.get(spot) ?? {tenant, linkId: linkFor(tenant), at: timeOf(random, person)};
		gatherings.set(spot, made);
		const {hours, posterLink} = networks.event.value;
		const isPoster = random.chance(posterLink);
		const own = isPoster ? made.tenant : random.pick(tenants.value);
		return {
			spot,
			tenant: own,
			linkId: isPoster ? made.linkId : linkFor(own),
			at: made.at + random.between(0, hours) * HOUR,
		};
	};

	const planOf = (person: Person): Plan => {
		const first = person.isHousemate ? households.get(person.household) : undefined;
		if (first !== undefined && random.chance(places.housemateSameApp.value)) {
			const {from, to} = places.housemateFollows.value;
			return {
				...first,
				linkId: random.chance(places.housemateSameLink.value) ? first.linkId : linkFor(first.tenant),
				at: first.at + random.logUniform(from, to) * HOUR,
				spot: moves.whereIs(person),
			};
		}

		if (random.chance(networks.event.value.share)) {
			return gather(person);
		}

		const tenant = random.pick(tenants.value);
		return {tenant, linkId: linkFor(tenant), at: timeOf(random, person), spot: moves.whereIs(person)};
	};

	const click = (person: Person, {tenant, linkId, at, spot}: Plan, visit: Visit): {click: Click; token: MatchToken} => {
		const token = tokenOf(random);
		const seen = moves.isRelayed(person, visit.browser) ? world.relayExit(person.metro) : spot;
		const base = {at: new Date(at), person: person.id, organizationId: tenant.id, network: seen.kind, place: seen.v4};
		const id = `${String(events.length).padStart(8, '0')}`;
		const made = makeClick({...base, ip: addressOf(seen, random)}, {id, linkId, token, visit});
		events.push(made);
		return {click: made, token};
	};

	const proofOf = ({phone}: Person, {runsScript}: Visit, token: string, hours: number): Partial<MatchFields> => {
		if (phone.platform === 'android') {
			const {installsFromThePage, referrerKept} = tokens;
			return random.chance(installsFromThePage.value * referrerKept.value) ? {installReferrer: token} : {};
		}

		const {tapsContinue, clipboardUsable, clipboardHalfLifeHours} = tokens;
		const lasts = 0.5 ** (hours / clipboardHalfLifeHours.value);
		return runsScript && random.chance(tapsContinue.value * clipboardUsable.value * lasts)
			? {clipboardToken: token}
			: {};
	};

	const open = (
		person: Person,
		{tenant, at, spot}: Plan,
		{
			cause,
			clicked,
			days,
			proof,
		}: {cause: Click | null; clicked: Set<string>; days: number; proof: Partial<MatchFields>},
	): void => {
		const {phone, appLanguage, metro} = person;
		const isIos = phone.platform === 'ios';
		const elsewhere = random.chance(days * behaviour.travels.value) ? random.pick(places.metros.value) : metro;
		const fields: MatchFields = {
			...proof,
			deviceId: `device-${person.id}`,
			platform: isIos ? 'iOS' : 'Android',
			osVersion: updated(random, phone, days),
			deviceModel: phone.model.code,
			language: isIos ? appLanguage.replace('-', '_') : appLanguage,
			timezone: elsewhere.zone,
		};
		const base = {at: new Date(at), person: person.id, organizationId: tenant.id, network: spot.kind, place: spot.v4};
		events.push(makeOpen({...base, ip: addressOf(spot, random)}, {fields, screen: phone.model, cause, clicked}));
	};

	const clickAndMaybeInstall = (person: Person, plan: Plan, installs: boolean): void => {
		const clicked = new Set([plan.linkId]);
		if (random.chance(behaviour.tapsAnotherLink.value)) {
			const before = random.logUniform(1 / 60, 6);
			const linkId = linkFor(plan.tenant);
			clicked.add(linkId);
			const visit = visitOnPhone(random, person, chooseBrowser(random, person.phone));
			click(person, {...plan, linkId, at: plan.at - before * HOUR}, visit);
		}

		if (!installs && random.chance(behaviour.onDesktop.value)) {
			click(person, plan, visitOnDesktop(person));
			return;
		}

		let visit = visitOnPhone(random, person, chooseBrowser(random, person.phone));
		let last = click(person, plan, visit);
		let at = plan.at;
		if (random.chance(behaviour.tapsAgain.value)) {
			const browser = random.chance(behaviour.tapsAgainInSameBrowser.value) ? visit.browser : null;
			at += random.between(0.2, 9) * (HOUR / 60);
			const again = browser === null || browser === 'desktop' ? chooseBrowser(random, person.phone) : browser;
			visit = visitOnPhone(random, person, again);
			last = click(person, {...plan, at}, visit);
		}

		if (installs) {
			const hours = delayOf(random);
			const spot = moves.after(person, plan.spot, hours);
			const proof = proofOf(person, visit, last.token, hours);
			open(person, {...plan, at: at + hours * HOUR, spot}, {cause: last.click, clicked, days: hours / 24, proof});
		}
	};

	const clickAnotherTenant = (person: Person, own: Tenant): void => {
		const tenant = random.pick(tenants.value.filter(([{id}]) => id !== own.id));
		const plan = {tenant, linkId: linkFor(tenant), at: timeOf(random, person), spot: moves.whereIs(person)};
		click(person, plan, visitOnPhone(random, person, chooseBrowser(random, person.phone)));
	};

	for (const person of people) {
		const plan = planOf(person);
		if (!person.isHousemate) {
			households.set(person.household, plan);
		}

		const role = random.pick(behaviour.roles.value);
		if (role === 'organic') {
			open(person, plan, {cause: null, clicked: new Set(), days: 0, proof: {}});
		} else {
			clickAndMaybeInstall(person, plan, role === 'installs');
		}

		if (random.chance(behaviour.tapsAnotherTenant.value)) {
			clickAnotherTenant(person, plan.tenant);
		}
	}

	events.sort((one, other) => one.at.getTime() - other.at.getTime());
	return {events, measuredFrom: new Date(START + DAY)};
};
