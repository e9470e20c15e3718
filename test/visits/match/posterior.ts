import test from 'ava';
import {normalize, type RawSignals, signalsOfApp} from '../../../src/visits/match/match-signals.ts';
import type {OpenAt, PossibleClick} from '../../../src/visits/match/open-at.ts';
import {posterior} from '../../../src/visits/match/posterior.ts';

const now = new Date('2026-03-10T12:00:00Z');
const reported: RawSignals = {
	platform: 'ios',
	osVersion: {major: 17, minor: 5, patch: 1, precision: 'patch'},
	deviceModel: null,
	language: 'en-US',
	timezone: 'America/New_York',
};
const app = signalsOfApp({platform: 'iOS', osVersion: '17.5.1', language: 'en-US', timezone: 'America/New_York'});
const alike = normalize(reported);
const unlike = normalize({
	...reported,
	language: 'fr-FR',
	osVersion: {major: 26, minor: 3, patch: 1, precision: 'patch'},
});

const click = (id: string, {age = 120, ...rest}: Partial<PossibleClick> & {age?: number} = {}): PossibleClick => ({
	id,
	linkId: 'sale',
	clickedAt: new Date(now.getTime() - age * 1000),
	signals: alike,
	nearness: 'ip',
	visitor: null,
	browser: null,
	...rest,
});

/** 100 phones, of which so many are like the app's. */
const among = (count: number) => [
	{signals: alike, count, byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}},
	{signals: unlike, count: 100 - count, byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}},
];

const weigh = (clicks: PossibleClick[], rest: Partial<OpenAt> = {}) =>
	posterior({now, app, clicks, others: [], clicksLast24h: clicks.length, phones: among(1), hasToken: false, ...rest});

const chance = (...given: Parameters<typeof weigh>) => {
	const {nobody, links} = weigh(...given);
	t100(nobody + [...links.values()].reduce((sum, one) => sum + one, 0));
	return Object.fromEntries(links);
};

const t100 = (sum: number): void => {
	if (Math.abs(sum - 1) > 1e-9) {
		throw new Error(`probabilities add up to ${sum}`);
	}
};

test('without a click it was nobody', (t) => {
	t.deepEqual([weigh([]).nobody, chance([])], [1, {}]);
});

test('a rare phone that clicked ten minutes ago is nearly certain, a common one is less', (t) => {
	const [rare, common] = [1, 100].map((count) => chance([click('a', {age: 600})], {phones: among(count)})['sale'] ?? 0);
	t.true((rare ?? 0) > 0.99 && (common ?? 1) < 0.96 && (common ?? 0) > 0.9, `${rare} ${common}`);
});

test('while no phone was counted, what is known of phones in general stands in', (t) => {
	const one = chance([click('a', {age: 600})], {phones: []})['sale'] ?? 0;
	t.true(one > 0.99 && one < 0.998, String(one));
	const silent = normalize({platform: null, osVersion: null, deviceModel: null, language: null, timezone: null});
	t.true((chance([click('a', {signals: silent, age: 600})], {phones: []})['sale'] ?? 1) < 0.98);
});

test('the older a click, the less likely', (t) => {
	const chances = [0, 120, 600, 3600, 6 * 3600, 23 * 3600].map((age) => chance([click('a', {age})])['sale'] ?? 0);
	t.deepEqual(
		chances,
		chances.toSorted((one, other) => other - one),
	);
	t.true((chances.at(-1) ?? 1) < 0.9 && (chances[0] ?? 0) > 0.99, chances.join());
	const common = chance([click('a', {age: 23 * 3600})], {phones: among(100)})['sale'] ?? 1;
	t.true(common < 0.5, String(common));
});

test('an open within the same second is as likely as one a minute and a half later', (t) => {
	t.deepEqual(chance([click('a', {age: 0})]), chance([click('a', {age: 90})]));
});

test('the more people clicked at a place, the likelier an install without a click', (t) => {
	const nobody = [1, 30, 300].map(
		(made) => weigh([click('a', {age: 120})], {clicksLast24h: made, phones: among(30)}).nobody,
	);
	const [one = 0, some = 0, many = 0] = nobody.map((probability) => probability / (1 - probability));
	t.true(one < 0.03 && some > 3 * one && many > 7 * some, nobody.join());
});

test('the click that is judged is no sign of others, and a click of another is', (t) => {
	const [none = 0, alone = 0, two = 0, three = 0] = [0, 1, 2, 3].map((made) => {
		const {nobody} = weigh([click('a', {age: 12 * 3600})], {clicksLast24h: made, phones: among(30)});
		return nobody / (1 - nobody);
	});
	t.is(none, alone);
	t.true(two > 5 * alone && Math.abs(three - two - (two - alone)) < 1e-3 * two, [alone, two, three].join());
});

test('another language counts a tenth, another timezone or system version a fiftieth for each day', (t) => {
	const phones = [{signals: alike, count: 100_000, byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}}];
	const odds = (signals: PossibleClick['signals'], age: number) => {
		const {nobody, links} = weigh([click('a', {signals, age})], {phones});
		return (links.get('sale') ?? 0) / nobody;
	};
	const versions = (minor: number) => ({major: 17, minor, patch: 1, precision: 'patch' as const});
	const parts = (age: number) =>
		[
			{language: 'fr-FR'},
			{timezone: 'Europe/Paris'},
			{osVersion: versions(4)},
			{osVersion: versions(6)},
			{language: 'fr-FR', timezone: 'Europe/Paris'},
		].map((other) => Number((odds(normalize({...reported, ...other}), age) / odds(alike, age)).toFixed(4)));
	t.deepEqual(parts(12 * 3600), [0.1, 0.01, 0.01, 0.01, 0.001]);
	const [language, ...changed] = parts(120);
	t.is(language, 0.1);
	t.true(
		changed.every((part) => part > 0 && part < 0.001),
		changed.join(),
	);
});

test('who heard of the app from a tap installs later than who tapped', (t) => {
	const nobody = [2, 5, 60].map((minutes) => weigh([click('a', {age: minutes * 60})], {phones: among(30)}).nobody);
	const [soon = 1, later = 1, last = 0] = nobody;
	t.true(soon < 0.002 && later < 0.006 && last > 10 * later, nobody.join());
});

test('the longer ago the tap, the more people who left the address are elsewhere in its network', (t) => {
	const nearer = (age: number) => {
		const at = (nearness: PossibleClick['nearness']) => {
			const {nobody, links} = weigh([click('a', {age, nearness})], {phones: among(30)});
			return (links.get('sale') ?? 0) / nobody;
		};
		return at('ip') / at('network');
	};
	t.true(nearer(600) > 20 && nearer(5 * 3600) < 10, `${nearer(600)} ${nearer(5 * 3600)}`);
});

test('where few people click, the newest click on another link is the same person', (t) => {
	const links = chance([click('a', {age: 300}), click('b', {linkId: 'later'})]);
	t.true((links['later'] ?? 0) > 0.96 && (links['sale'] ?? 1) < 0.03, JSON.stringify(links));
});

test('where many click with common phones, an older click on another link keeps its weight', (t) => {
	const links = chance([click('a', {age: 300}), click('b', {linkId: 'later', age: 240})], {
		clicksLast24h: 200,
		phones: among(50),
	});
	t.true((links['sale'] ?? 0) > 0.5 * (links['later'] ?? 1), JSON.stringify(links));
});

test('a newer click of another phone takes nothing', (t) => {
	const android = normalize({...reported, platform: null, osVersion: {...alike.osVersion, major: 14} as never});
	const links = chance([
		click('a', {age: 300}),
		click('b', {linkId: 'later', signals: {...android, model: 'pixel 8'}}),
	]);
	t.true((links['sale'] ?? 0) > 0);
	const ofOther = {...alike, model: 'iphone15,2'};
	const kept = chance([
		click('a', {age: 300, signals: {...alike, model: 'iphone14,2'}}),
		click('b', {linkId: 'later', signals: ofOther}),
	]);
	t.true((kept['sale'] ?? 0) > 0.2, JSON.stringify(kept));
});

test('the later tap of a visitor wins, wherever it was and however many click here', (t) => {
	const clicks = [
		click('a', {visitor: 'v', age: 300}),
		click('b', {visitor: 'v', linkId: 'elsewhere', nearness: 'elsewhere', age: 60}),
	];
	const links = chance(clicks, {clicksLast24h: 200});
	t.is(links['sale'], 0);
	t.true((links['elsewhere'] ?? 0) > 0.5, JSON.stringify(links));
});

test('where most taps leave a token, an open without one more often comes from nobody', (t) => {
	const openOf = (byToken: number, rest: Partial<OpenAt> = {}) =>
		weigh([click('a', {age: 600})], {
			phones: [{signals: alike, count: 100, byToken, byGuess: 10, neighbours: {seen: 0, equal: 0}}],
			...rest,
		}).nobody;
	t.true(openOf(90) > 4 * openOf(0), `${openOf(90)} ${openOf(0)}`);
	t.is(openOf(90, {hasToken: true}), openOf(0));
});

test('some taps of one phone by token, as in a test, do not end its guesses', (t) => {
	const phones = [{signals: alike, count: 20, byToken: 20, byGuess: 0, neighbours: {seen: 0, equal: 0}}];
	const sale = chance([click('a', {age: 30})], {phones})['sale'] ?? 0;
	t.true(sale > 0.7, String(sale));
});

test('a phone that nobody else has may still be that of who heard of the app nearby', (t) => {
	const phones = [{signals: unlike, count: 100_000, byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}}];
	const {nobody} = weigh([click('a', {age: 600})], {phones});
	t.true(nobody > 0.001 && nobody < 0.01, String(nobody));
});

test('equal phones among the clicks of a place show that more people have one, others that fewer do', (t) => {
	const phones = [{signals: unlike, count: 100_000, byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}}];
	const odds = (nearness: 'ip' | 'network', signals: Array<PossibleClick['signals']>) => {
		const others = signals.map((one, index) => click(`b${index}`, {signals: one, age: 7200 + index, nearness}));
		const {nobody} = weigh([click('a', {age: 3600})], {phones, others, clicksLast24h: 7});
		return nobody / (1 - nobody);
	};
	// The network's clicks show as much of how many are here, and nothing of their phones.
	const change = (...signals: Array<PossibleClick['signals']>) => odds('ip', signals) / odds('network', signals);
	t.true(change(unlike, unlike, unlike, unlike, unlike, unlike) < 1 / 2);
	t.true(change(alike, alike, alike, alike, alike, alike) > 10);
	t.true(change(alike) <= 1, 'a second tap of the same person');
});

test('the more people click now, the more install now without a click: the last hour says more than the day', (t) => {
	const nobodyAt = (age: number) => {
		const others = Array.from({length: 30}, (_, index) => click(`b${index}`, {signals: unlike, age: age + index}));
		return weigh([click('a', {age: 600})], {others, clicksLast24h: 31, phones: among(50)}).nobody;
	};
	t.true(nobodyAt(900) > 3 * nobodyAt(12 * 3600), `${nobodyAt(900)} ${nobodyAt(12 * 3600)}`);
});

test('clicks of one browser with different cookies are of two people, and show whether neighbours have equal phones', (t) => {
	const own = click('a', {browser: 'Safari', visitor: 'a'});
	const other = (rest: Partial<PossibleClick>) =>
		weigh([own], {others: [click('b', {browser: 'Safari', visitor: 'b', age: 900, ...rest})]}).neighbours;
	const {seen, equal} = other({});
	t.true(seen === 1 && equal > 0.9, `${equal}`);
	t.true(other({signals: unlike}).equal < 0);
	for (const rest of [
		{browser: 'Chrome'},
		{browser: null},
		{visitor: 'a'},
		{visitor: null},
		{nearness: 'network'},
	] as const) {
		t.deepEqual(other(rest), {seen: 0, equal: 0}, JSON.stringify(rest));
	}
});

test('where first opens showed neighbours with equal phones, an old click is more often not the reason', (t) => {
	const nobodyWith = (equal: number) => {
		const [one, ...rest] = among(1);
		return weigh([click('a', {age: 3600})], {
			phones: [...(one ? [{...one, neighbours: {seen: 20, equal}}] : []), ...rest],
		}).nobody;
	};
	t.true(nobodyWith(18) > 3 * nobodyWith(0), `${nobodyWith(18)} ${nobodyWith(0)}`);
});

test('a tap elsewhere counts for nothing of itself', (t) => {
	t.is(chance([click('b', {nearness: 'elsewhere'})])['sale'], 0);
});

test('clicks of one link count together', (t) => {
	const two = chance([click('a'), click('b', {age: 130})], {clicksLast24h: 50, phones: among(50)})['sale'] ?? 0;
	const one = chance([click('a')], {clicksLast24h: 50, phones: among(50)})['sale'] ?? 0;
	t.true(two > one, `${one} ${two}`);
});

test('a click of the network alone needs a phone that hardly anybody has', (t) => {
	const [common, rare] = [50, 0].map((count) =>
		chance([click('a', {nearness: 'network', age: 1200})], {phones: among(count)}),
	);
	t.true((common?.['sale'] ?? 1) < 0.8 && (rare?.['sale'] ?? 0) > 0.5, JSON.stringify([common, rare]));
});

test('phones of the timezone decide how common a phone is; while few are counted others stand in as if here', (t) => {
	const likelihood = (here: number, abroad: number, phone = reported) => {
		const elsewhere = normalize({...phone, timezone: 'Europe/Paris'});
		const phones = [
			{signals: alike, count: here, byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}},
			{signals: elsewhere, count: abroad, byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}},
		];
		return weigh([click('a', {age: 3600})], {phones, clicksLast24h: 20});
	};
	t.like(likelihood(10, 40).clicks.get('a'), {alike: 50, compared: 50});
	const foreign = {...reported, language: 'fr-FR'};
	const odds = (...counted: Parameters<typeof likelihood>): number => {
		const {nobody} = likelihood(...counted);
		return nobody / (1 - nobody);
	};
	const [common, rare] = [reported, foreign].map((phone) => odds(0, 280, phone));
	t.true((common ?? 0) > 10 * (rare ?? 1), `${common} ${rare}`);
	const [few, many] = [5, 200].map((here) => odds(here, 280, foreign));
	t.true((rare ?? 1) < (few ?? 0) && (few ?? 1) < (many ?? 0), `${rare} ${few} ${many}`);
});
