import {type Browser, behaviour, browsers, type Scenario, sight} from './parameters.ts';
import {createPeople, type Person} from './people.ts';
import {hasHints, modelOfApp, onDesktop, type Phone, type Sight, sightOf} from './phones.ts';
import {createRandom, type Random, type Weighted, zipf} from './random.ts';
import {type Address, addressOf, createWorld, type Spot} from './world.ts';

type Happening = Address & {at: Date; organizationId: string};

/** What the page's script posts, as far as it runs and arrives. */
export type Signals = {
	language: string;
	timezone: string;
	screen: string;
	/** Only from Chromium under its own name. */
	model: string | null;
	androidVersion: string | null;
	isTouch: boolean;
};

export type Click = Happening & {
	type: 'click';
	id: string;
	linkId: string;
	seen: Sight;
	acceptLanguage: string;
	signals: Signals | null;
	/** The browser whose cookie it has. */
	visitor: string | null;
	/** Whose phone it is, to judge what is read of it; null for robots and desktops. */
	phone: Phone | null;
};

export type Open = Happening & {
	type: 'open';
	/** The click that led here, or null for who came without one. */
	cause: Click | null;
	/** Links of this tenant that the person clicked before. */
	clicked: Set<string>;
	deviceId: string;
	platform: Phone['platform'];
	version: string;
	model: string;
	language: string;
	timezone: string;
	screen: string;
	/** The click whose token the app has, and how it got it. */
	proof: {method: 'CLIPBOARD' | 'INSTALL_REFERRER'; clickId: string} | null;
};

export type Story = {events: ReadonlyArray<Click | Open>; measuredFrom: Date};

const HOUR = 3600_000;
const DAY = 24 * HOUR;
/** A Monday. */
const START = Date.UTC(2026, 2, 2);

const hourOfDay = (random: Random): number =>
	random.pick(behaviour.hours.map((weight, hour) => [hour, weight] as const)) + random.between(0, 1);

const dayOf = (at: number): number => Math.floor((at - START) / DAY);

const updated = (random: Random, {platform, version}: Phone, days: number): string => {
	if (!random.chance(days * behaviour.updates)) {
		return version;
	}

	return platform === 'android'
		? String(Number(version) + 1)
		: Number(version.split('.')[0]) < 18
			? '18.7.4'
			: '26.3.1';
};

/**
 * A week of a scenario in the order of time, with its truth. The first day only fills the server with clicks and phones.
 * @param scale how many times its people.
 */
export const createStory = (scenario: Scenario, seed: number, scale = 1): Story => {
	const random = createRandom(seed);
	const world = createWorld(random, scenario);
	const people = createPeople(random, world, scenario, Math.round(scenario.people * scale));
	const events: Array<Click | Open> = [];
	const numbers = <T>(count: number, name: (index: number) => T) =>
		Array.from({length: count}, (_, index) => name(index));
	const tenants: Weighted<string> = zipf(numbers(scenario.tenants, (index) => `tenant-${index}`));
	const links = zipf(numbers(scenario.links, (index) => `${index}`));
	const linkOf = (tenant: string): string =>
		`${tenant}/${random.chance(scenario.topLink) ? 'top' : random.pick(links)}`;
	const rush = START + (1 + random.below(5)) * DAY + 12 * HOUR;
	const gatherings = new Map<number, Plan>();
	const plans = new Map<Person, Plan>();

	type Plan = {tenant: string; linkId: string; at: number; spot: Spot};

	const spotOf = (person: Person, at: number): Spot => {
		switch (random.pick(world.kinds)) {
			case 'home':
				return person.home(dayOf(at));
			case 'carrier':
				return world.carrier(person.country, person.hasCarrierV6);
			case 'shared':
				return person.shared;
			case 'vpn':
				return person.vpn;
		}
	};

	/** Where somebody is some hours after a click: mostly still there, else on the way home or from home. */
	const spotAfter = (person: Person, spot: Spot, at: number, hours: number): Spot => {
		if (!random.chance(scenario.stays * 0.5 ** (hours / 2.5))) {
			return hours > 1 || spot.kind === 'carrier'
				? spotOf(person, at)
				: world.carrier(person.country, person.hasCarrierV6);
		}

		if (spot.kind === 'home') {
			return person.home(dayOf(at));
		}

		return spot.kind === 'carrier' && !random.chance(0.5 ** (hours / behaviour.carrierHalfLife))
			? world.carrier(person.country, person.hasCarrierV6)
			: spot;
	};

	const timeOf = (): number =>
		random.chance(scenario.burst)
			? rush + random.between(0, 6) * HOUR
			: START + random.below(behaviour.days) * DAY + hourOfDay(random) * HOUR;

	const freshPlan = (person: Person): Plan => {
		const [tenant, at] = [random.pick(tenants), timeOf()];
		return {tenant, linkId: linkOf(tenant), at, spot: spotOf(person, at)};
	};

	const planOf = (person: Person): Plan => {
		const first = person.housemateOf && plans.get(person.housemateOf);
		if (first && random.chance(behaviour.housemateSameApp)) {
			const at = first.at + random.logUniform(0.1, 48) * HOUR;
			const linkId = random.chance(behaviour.housemateSameLink) ? first.linkId : linkOf(first.tenant);
			return {...first, linkId, at, spot: spotOf(person, at)};
		}

		const plan = freshPlan(person);
		if (!random.chance(scenario.gathers)) {
			return plan;
		}

		const gathering = gatherings.get(person.shared.v4) ?? plan;
		// A place has a gathering for some fifty people, and then the next one.
		gatherings.set(person.shared.v4, random.chance(0.02) ? plan : gathering);
		const isPoster = random.chance(0.75);
		const {tenant, linkId} = isPoster ? gathering : plan;
		return {tenant, linkId, at: gathering.at + random.between(0, 1) * HOUR, spot: person.shared};
	};

	const browserOf = ({phone}: Person): Browser =>
		random.pick(random.chance(scenario.inApp) ? browsers.inApp : browsers[phone.platform]);

	const signalsOf = ({phone, language, zone}: Person, browser: Browser, seen: Sight): Signals => {
		const isChromium = seen.platform === 'android' && browser !== 'firefox';
		const sendsHints = seen.platform === 'android' && hasHints(browser);
		return {
			language,
			timezone: (isChromium ? zone.v8 : null) ?? zone.zone,
			screen: phone.screen,
			model: sendsHints ? phone.model : null,
			androidVersion: sendsHints ? `${phone.version}.0.0` : null,
			isTouch: true,
		};
	};

	/** A visit of a link's page. Nothing else is known of a robot than that it looks like this. */
	const click = (person: Person, plan: Plan, browser: Browser | 'desktop', isRobot = false): Click => {
		const isDesktop = browser === 'desktop';
		const seen = isDesktop ? onDesktop : sightOf(random, person.phone, browser, person.language);
		const isRelayed = person.usesRelay && browser === 'safari';
		const takesCookie = !isRobot && !random.chance(sight.refusesCookies);
		const runsScript = takesCookie && !random.chance(sight.withoutScript) && !random.chance(sight.signalsLost);
		const signals = isDesktop
			? {
					language: person.language,
					timezone: person.zone.zone,
					screen: '1920x1080',
					model: null,
					androidVersion: null,
					isTouch: false,
				}
			: signalsOf(person, browser, seen);
		const made: Click = {
			type: 'click',
			id: String(events.length).padStart(8, '0'),
			at: new Date(plan.at),
			organizationId: plan.tenant,
			linkId: plan.linkId,
			...addressOf(isRelayed ? world.relay(person.zone.zone) : plan.spot, random),
			seen,
			acceptLanguage: `${person.language},${person.language.split('-')[0]};q=0.9`,
			signals: runsScript ? signals : null,
			visitor: takesCookie ? `${person.id} ${browser}` : null,
			phone: isDesktop || isRobot ? null : person.phone,
		};
		events.push(made);
		return made;
	};

	/** Three quarters within the hour, nearly all within the day, the rest within the week. */
	const delay = (): number => {
		const {withinHour, withinDay, spread} = behaviour.delay;
		const share = random.between(0, 1);
		if (share < withinHour) {
			return Math.min(60, Math.max(0.5, random.logNormal(scenario.medianMinutes, spread))) / 60;
		}

		return share < withinDay ? random.logUniform(1, 24) : random.logUniform(24, 167);
	};

	const proofOf = ({phone: {platform}}: Person, cause: Click, hours: number): Open['proof'] => {
		const {clipboard, referrer} = sight;
		if (platform === 'android') {
			const isKept = random.chance(referrer.fromThePage * referrer.kept);
			return isKept ? {method: 'INSTALL_REFERRER', clickId: cause.id} : null;
		}

		const lasts = 0.5 ** (hours / clipboard.halfLifeHours);
		const isKept = cause.signals !== null && random.chance(clipboard.taps * clipboard.usable * lasts);
		return isKept ? {method: 'CLIPBOARD', clickId: cause.id} : null;
	};

	const open = (person: Person, plan: Plan, cause: Click | null, clicked: Set<string>, hours: number): void => {
		const {phone, appLanguage, zone} = person;
		const days = hours / 24;
		const isAway = random.chance(days * behaviour.travels);
		events.push({
			type: 'open',
			at: new Date(plan.at),
			organizationId: plan.tenant,
			...addressOf(plan.spot, random),
			cause,
			clicked,
			deviceId: `device-${events.length}`,
			platform: phone.platform,
			version: updated(random, phone, days),
			model: modelOfApp(random, phone),
			language: phone.platform === 'ios' ? appLanguage.replace('-', '_') : appLanguage,
			timezone: isAway ? 'Europe/London' : zone.zone,
			screen: phone.screen,
			proof: cause && proofOf(person, cause, hours),
		});
	};

	const visitAndPerhapsInstall = (person: Person, plan: Plan, installs: boolean): void => {
		const clicked = new Set([plan.linkId]);
		if (random.chance(behaviour.tapsAnotherLink)) {
			const linkId = linkOf(plan.tenant);
			clicked.add(linkId);
			click(person, {...plan, linkId, at: plan.at - random.logUniform(1 / 60, 6) * HOUR}, browserOf(person));
		}

		if (!installs && random.chance(behaviour.onDesktop)) {
			click(person, plan, 'desktop');
			return;
		}

		const browser = browserOf(person);
		let cause = click(person, plan, browser);
		let {at} = plan;
		if (random.chance(behaviour.tapsAgain)) {
			at += random.between(0.2, 9) * (HOUR / 60);
			const isSame = random.chance(behaviour.sameBrowserAgain);
			cause = click(person, {...plan, at}, isSame ? browser : browserOf(person));
		}

		if (installs) {
			const hours = delay();
			at += hours * HOUR;
			open(person, {...plan, at, spot: spotAfter(person, plan.spot, at, hours)}, cause, clicked, hours);
		}
	};

	const {converts, organic} = scenario;
	const roles = [
		['installs', converts],
		['only clicks', 1 - converts],
		['organic', (converts * organic) / (1 - organic)],
	] as const;
	for (const person of people) {
		const plan = planOf(person);
		plans.set(person, plan);
		const role = random.pick(roles);
		if (role === 'organic') {
			open(person, plan, null, new Set(), 0);
		} else {
			visitAndPerhapsInstall(person, plan, role === 'installs');
		}

		if (random.chance(scenario.tapsAnotherTenant)) {
			click(person, freshPlan(person), browserOf(person));
		}

		// Robots and thieves hide among the people of a place, behind phones that others have.
		if (role !== 'organic' && random.chance(scenario.bots)) {
			click(person, freshPlan(person), browserOf(person), true);
		}

		if (role !== 'only clicks' && random.chance(scenario.thieves)) {
			open(person, freshPlan(person), null, new Set(), 0);
		}
	}

	events.sort((one, other) => one.at.getTime() - other.at.getTime());
	return {events, measuredFrom: new Date(START + DAY)};
};
