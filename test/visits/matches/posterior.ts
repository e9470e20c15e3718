import assert from 'node:assert/strict';
import test from 'ava';
import {normalize} from '../../../src/visits/matches/match-signals.ts';
import type {OpenAt, PossibleClick} from '../../../src/visits/matches/phone-comparison.ts';
import {posterior} from '../../../src/visits/matches/posterior.ts';
import {app, counted, now, reported} from './_weighing.ts';

const alike = normalize(reported);
const foreign = {language: 'fr-FR', osVersion: {major: 26, minor: 3, patch: 1, precision: 'patch' as const}};
const unlike = normalize({...reported, ...foreign});

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
const among = (count: number) => [counted(count), counted(100 - count, foreign)];

const weigh = (clicks: PossibleClick[], rest: Partial<OpenAt> = {}) =>
	posterior({now, app, clicks, others: [], clicksLast24h: clicks.length, phones: among(1), hasToken: false, ...rest});

/** The probability of each link; all of them and nobody add up to 1. */
const chances = (...given: Parameters<typeof weigh>) => {
	const {nobody, links} = weigh(...given);
	const sum = [...links.values()].reduce((part, one) => part + one, nobody);
	assert(Math.abs(sum - 1) < 1e-9, `probabilities add up to ${sum}`);
	return Object.fromEntries(links);
};

/** That of the one link of most tests. */
const chance = (...given: Parameters<typeof weigh>): number => chances(...given)['sale'] ?? Number.NaN;

/** How much more often it was nobody than somebody who clicked. */
const oddsOfNobody = (...given: Parameters<typeof weigh>): number => {
	const {nobody} = weigh(...given);
	return nobody / (1 - nobody);
};

test('without a click it was nobody', (t) => {
	t.deepEqual([weigh([]).nobody, chances([])], [1, {}]);
});

test('a rare phone that clicked ten minutes ago is nearly certain, a common one is less', (t) => {
	const [rare = 0, common = 0] = [1, 100].map((count) => chance([click('a', {age: 600})], {phones: among(count)}));
	t.true(rare > 0.99 && common < 0.96 && common > 0.9, `${rare} ${common}`);
});

test('while no phone was counted, what is known of phones in general stands in', (t) => {
	const one = chance([click('a', {age: 600})], {phones: []});
	t.true(one > 0.99 && one < 0.998, String(one));
	const silent = normalize({platform: null, osVersion: null, deviceModel: null, language: null, timezone: null});
	t.true(chance([click('a', {signals: silent, age: 600})], {phones: []}) < 0.98);
});

test('the older a click, the less likely, but for the first minute and a half', (t) => {
	t.is(chance([click('a', {age: 0})]), chance([click('a', {age: 90})]));
	const found = [0, 120, 600, 3600, 6 * 3600, 23 * 3600].map((age) => chance([click('a', {age})]));
	const sorted = found.toSorted((one, other) => other - one);
	t.deepEqual(found, sorted);
	t.true((found.at(-1) ?? 1) < 0.9 && (found[0] ?? 0) > 0.99, found.join());
	t.true(chance([click('a', {age: 23 * 3600})], {phones: among(100)}) < 0.5);
});

test('the more people clicked at a place, the likelier an install without a click', (t) => {
	const [one = 0, some = 0, many = 0] = [1, 30, 300].map((made) =>
		oddsOfNobody([click('a')], {clicksLast24h: made, phones: among(30)}),
	);
	t.true(one < 0.03 && some > 3 * one && many > 7 * some, `${one} ${some} ${many}`);
});

test('the click that is judged is no sign of others, and a click of another is', (t) => {
	const [none = 0, alone = 0, two = 0, three = 0] = [0, 1, 2, 3].map((made) =>
		oddsOfNobody([click('a', {age: 12 * 3600})], {clicksLast24h: made, phones: among(30)}),
	);
	t.is(none, alone);
	t.true(two > 5 * alone && Math.abs(three - two - (two - alone)) < 1e-3 * two, [alone, two, three].join());
});

test('another language counts a tenth, another timezone or system version a fiftieth for each day', (t) => {
	const phones = [counted(100_000)];
	const odds = (signals: PossibleClick['signals'], age: number) =>
		1 / oddsOfNobody([click('a', {signals, age})], {phones});
	const versions = (minor: number) => ({major: 17, minor, patch: 1, precision: 'patch' as const});
	const [french, paris] = [{language: 'fr-FR'}, {timezone: 'Europe/Paris'}];
	const others = [french, paris, {osVersion: versions(4)}, {osVersion: versions(6)}, {...french, ...paris}];
	const parts = (age: number) =>
		others.map((other) => Number((odds(normalize({...reported, ...other}), age) / odds(alike, age)).toFixed(4)));
	t.deepEqual(parts(12 * 3600), [0.1, 0.01, 0.01, 0.01, 0.001]);
	const [language, ...changed] = parts(120);
	t.is(language, 0.1);
	t.true(Math.min(...changed) > 0 && Math.max(...changed) < 0.001, changed.join());
});

test('who heard of the app from a tap installs later than who tapped', (t) => {
	const [soon = 1, later = 1, last = 0] = [2, 5, 60].map(
		(minutes) => weigh([click('a', {age: minutes * 60})], {phones: among(30)}).nobody,
	);
	t.true(soon < 0.002 && later < 0.006 && last > 10 * later, `${soon} ${later} ${last}`);
});

test('the longer ago the tap, the more people who left the address are elsewhere in its network', (t) => {
	const phones = among(30);
	const nearer = (age: number) =>
		oddsOfNobody([click('a', {age, nearness: 'network'})], {phones}) / oddsOfNobody([click('a', {age})], {phones});
	t.true(nearer(600) > 20 && nearer(5 * 3600) < 10, `${nearer(600)} ${nearer(5 * 3600)}`);
});

test('where few people click, the newest click on another link is the same person', (t) => {
	const links = chances([click('a', {age: 300}), click('b', {linkId: 'later'})]);
	t.true((links['later'] ?? 0) > 0.96 && (links['sale'] ?? 1) < 0.03, JSON.stringify(links));
});

test('where many click with common phones, an older click on another link keeps its weight', (t) => {
	const clicks = [click('a', {age: 300}), click('b', {linkId: 'later', age: 240})];
	const links = chances(clicks, {clicksLast24h: 200, phones: among(50)});
	t.true((links['sale'] ?? 0) > 0.5 * (links['later'] ?? 1), JSON.stringify(links));
});

test('a newer click of another phone takes nothing', (t) => {
	const android = normalize({...reported, platform: null, osVersion: {...alike.osVersion, major: 14} as never});
	const later = (signals: PossibleClick['signals']) => click('b', {linkId: 'later', signals});
	t.true(chance([click('a', {age: 300}), later({...android, model: 'pixel 8'})]) > 0);
	const older = click('a', {age: 300, signals: {...alike, model: 'iphone14,2'}});
	t.true(chance([older, later({...alike, model: 'iphone15,2'})]) > 0.2);
});

test('the later tap of a visitor wins, however many click here; a tap elsewhere counts for nothing of itself', (t) => {
	t.is(chance([click('b', {nearness: 'elsewhere'})]), 0);
	const there = click('b', {visitor: 'v', linkId: 'elsewhere', nearness: 'elsewhere', age: 60});
	const links = chances([click('a', {visitor: 'v', age: 300}), there], {clicksLast24h: 200});
	t.is(links['sale'], 0);
	t.true((links['elsewhere'] ?? 0) > 0.5, JSON.stringify(links));
});

test('where most taps leave a token, an open without one more often comes from nobody', (t) => {
	const openOf = (byToken: number, rest: Partial<OpenAt> = {}) =>
		weigh([click('a', {age: 600})], {phones: [counted(100, {}, {byToken, byGuess: 10})], ...rest}).nobody;
	t.true(openOf(90) > 4 * openOf(0), `${openOf(90)} ${openOf(0)}`);
	t.is(openOf(90, {hasToken: true}), openOf(0));
});

test('some taps of one phone by token, as in a test, do not end its guesses', (t) => {
	const phones = [counted(20, {}, {byToken: 20})];
	const sale = chance([click('a', {age: 30})], {phones});
	t.true(sale > 0.7, String(sale));
});

test('a phone that nobody else has may still be that of a person who heard of the app nearby', (t) => {
	const phones = [counted(100_000, foreign)];
	const {nobody} = weigh([click('a', {age: 600})], {phones});
	t.true(nobody > 0.001 && nobody < 0.01, String(nobody));
});

test('equal phones among the clicks of a place show that more people have one, others that fewer do', (t) => {
	const phones = [counted(100_000, foreign)];
	const odds = (nearness: 'ip' | 'network', signals: Array<PossibleClick['signals']>) => {
		const others = signals.map((one, index) => click(`b${index}`, {signals: one, age: 7200 + index, nearness}));
		return oddsOfNobody([click('a', {age: 3600})], {phones, others, clicksLast24h: 7});
	};
	// The network's clicks show as much of how many are here, and nothing of their phones.
	const change = (...signals: Array<PossibleClick['signals']>) => odds('ip', signals) / odds('network', signals);
	t.true(change(...Array(6).fill(unlike)) < 1 / 2);
	t.true(change(...Array(6).fill(alike)) > 10);
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
	const notTold = [
		{browser: 'Chrome'},
		{browser: null},
		{visitor: 'a'},
		{visitor: null},
		{nearness: 'network'},
	] as const;
	for (const rest of notTold) {
		t.deepEqual(other(rest), {seen: 0, equal: 0}, JSON.stringify(rest));
	}
});

test('where first opens showed neighbours with equal phones, an old click is more often not the reason', (t) => {
	const phones = (equal: number) => [counted(1, {}, {neighbours: {seen: 20, equal}}), counted(99, foreign)];
	const nobodyWith = (equal: number) => weigh([click('a', {age: 3600})], {phones: phones(equal)}).nobody;
	t.true(nobodyWith(18) > 3 * nobodyWith(0), `${nobodyWith(18)} ${nobodyWith(0)}`);
});

test('a click of the network alone needs a phone that hardly anybody has', (t) => {
	const [common = 1, rare = 0] = [50, 0].map((count) =>
		chance([click('a', {nearness: 'network', age: 1200})], {phones: among(count)}),
	);
	t.true(common < 0.8 && rare > 0.5, `${common} ${rare}`);
});

test('phones of the timezone decide how common a phone is; while few are counted others stand in as if here', (t) => {
	const among = (here: number, abroad: number, phone = {}) => ({
		phones: [counted(here), counted(abroad, {...phone, timezone: 'Europe/Paris'})],
		clicksLast24h: 20,
	});
	const clicks = [click('a', {age: 3600})];
	t.like(weigh(clicks, among(10, 40)).clicks.get('a'), {alike: 50, compared: 50});
	const french = {language: 'fr-FR'};
	const [common, rare] = [oddsOfNobody(clicks, among(0, 280)), oddsOfNobody(clicks, among(0, 280, french))];
	t.true(common > 10 * rare, `${common} ${rare}`);
	const [few = 0, many = 0] = [5, 200].map((here) => oddsOfNobody(clicks, among(here, 280, french)));
	t.true(rare < few && few < many, `${rare} ${few} ${many}`);
});
