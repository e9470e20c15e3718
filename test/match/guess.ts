import test from 'ava';
import type {Candidate} from '../../src/match/candidate.ts';
import {type Circumstances, guessClick} from '../../src/match/guess.ts';
import {matchPolicy} from '../../src/match/match-policy.ts';
import {normalise, signalsOfApp, type ToldSignals} from '../../src/match/match-signals.ts';

const now = new Date('2026-03-10T12:00:00Z');
const HOUR = 3600;

const told: ToldSignals = {
	platform: 'ios',
	osVersion: {major: 17, minor: 5, patch: 1, precision: 'patch'},
	deviceModel: null,
	language: 'en-US',
	timezone: 'America/New_York',
};
const app = signalsOfApp({platform: 'iOS', osVersion: '17.5.1', language: 'en-US', timezone: 'America/New_York'});

let made = 0;
const click = ({
	age = 120,
	signals = {},
	...rest
}: Partial<Omit<Candidate, 'signals'>> & {age?: number; signals?: Partial<ToldSignals>} = {}): Candidate => {
	made += 1;
	return {
		id: String(made).padStart(6, '0'),
		organizationId: 'acme',
		linkId: 'sale',
		clickedAt: new Date(now.getTime() - age * 1000),
		expiresAt: new Date(now.getTime() + 100 * HOUR * 1000),
		nearness: 'ip',
		signals: normalise({...told, ...signals}),
		isConsumed: false,
		isLive: true,
		rules: {probabilisticMatching: true, minimumConfidence: 'low'},
		...rest,
	};
};

const guess = (clicks: Candidate[], circumstances: Partial<Circumstances> = {}, opened = app) =>
	guessClick(clicks, opened, {now, isConfined: true, openNearby: clicks.length, ...circumstances}, matchPolicy);

const verdict = (...given: Parameters<typeof guess>) => {
	const {guess: made, reason} = guess(...given);
	return made === null ? reason : `${made.method} ${made.confidence} ${made.candidate.linkId}`;
};

/** Alike, but for a language that costs it the exact fingerprint: 79 points. */
const british = {signals: {language: 'en-GB'}};
/** 65 points. */
const french = {signals: {language: 'fr-FR'}};
/** Nothing told: 40 points. */
const silent = {signals: {platform: null, osVersion: null, language: null, timezone: null}};

test('one click that is alike in everything is an exact fingerprint', (t) => {
	t.is(verdict([click()]), 'FINGERPRINT_EXACT high sale');
	t.is(verdict([click({linkId: 'other', ...british}), click()]), 'FINGERPRINT_EXACT high sale');
});

test('two exact fingerprints on one link are no ambiguity: the newest wins', (t) => {
	const [older, newer] = [click({age: 300}), click({age: 60})];
	const {guess: made} = guess([older, newer]);
	t.is(made?.method, 'FINGERPRINT_EXACT');
	t.is(made?.candidate, newer);
});

test('two exact fingerprints on different links are scored: the newest wins, one level lower', (t) => {
	t.is(verdict([click({linkId: 'first', age: 300}), click({linkId: 'second'})]), 'FINGERPRINT_SCORED medium second');
});

test('of two equal scores the higher id wins where the time is equal', (t) => {
	const [one, other] = [click({linkId: 'one', ...british}), click({linkId: 'other', ...british})];
	t.is(verdict([one, other]), 'FINGERPRINT_SCORED medium other');
	t.is(verdict([other, one]), 'FINGERPRINT_SCORED medium other');
});

test('confidence follows the score', (t) => {
	t.is(verdict([click(british)]), 'FINGERPRINT_SCORED high sale');
	t.is(verdict([click(french)]), 'FINGERPRINT_SCORED medium sale');
	const low = click({signals: {osVersion: {major: 16, minor: 6, patch: 0, precision: 'patch'}}});
	t.is(verdict([low]), 'FINGERPRINT_SCORED low sale');
});

test('a rival within 10 points on another link lowers the confidence, one further away does not', (t) => {
	t.is(
		verdict([click(british), click({linkId: 'other', signals: {language: null}})]),
		'FINGERPRINT_SCORED medium sale',
	);
	t.is(verdict([click(british), click({linkId: 'other', ...french})]), 'FINGERPRINT_SCORED high sale');
	t.is(verdict([click(british), click(british)]), 'FINGERPRINT_SCORED high sale');
});

test('more than three rivals are too many', (t) => {
	const rivals = (count: number) =>
		Array.from({length: count}, (_, index) => click({linkId: `rival ${index}`, ...british, age: 600}));
	t.is(verdict([click(british), ...rivals(3)]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click(british), ...rivals(4)]), 'ambiguous');
});

test('a low score that is lowered is no match', (t) => {
	const low = {signals: {osVersion: {major: 16, minor: 6, patch: 0, precision: 'patch'} as const}};
	t.is(verdict([click(low), click({linkId: 'other', ...low})]), 'ambiguous');
});

test('below 50 points only the address is left, and only where all its clicks are on one link', (t) => {
	t.is(verdict([click(silent)]), 'IP_FUZZY low sale');
	t.is(verdict([click(silent), click(silent)]), 'IP_FUZZY low sale');
	t.is(verdict([click(silent), click({...silent, linkId: 'other'})]), 'ambiguous');
	t.is(verdict([click({...silent, nearness: 'network'})]), 'below_threshold');
});

test('each method has its window', (t) => {
	t.is(verdict([click({age: 24 * HOUR})]), 'FINGERPRINT_EXACT medium sale');
	t.is(verdict([click({age: 24 * HOUR + 1})]), 'outside_window');
	t.is(verdict([click({...british, age: 6 * HOUR})]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click({...british, age: 6 * HOUR + 1})]), 'outside_window');
	t.is(verdict([click({...silent, age: HOUR})]), 'IP_FUZZY low sale');
	t.is(verdict([click({...silent, age: HOUR + 1})]), 'below_threshold');
	t.is(verdict([click({expiresAt: now})]), 'outside_window');
});

test('a contradiction rules out of every guess', (t) => {
	t.is(verdict([click({signals: {platform: 'android'}})]), 'ruled_out');
	t.is(verdict([click({signals: {platform: 'desktop'}})]), 'ruled_out');
	t.is(verdict([click({signals: {osVersion: {major: 18, minor: 1, patch: 0, precision: 'patch'}}})]), 'ruled_out');
	const {weighed} = guess([click({signals: {platform: 'android'}})]);
	t.is(weighed[0]?.ruledOut, 'platform');
});

test('what is ruled out is no rival either', (t) => {
	t.is(verdict([click(silent), click({linkId: 'other', signals: {platform: 'android'}})]), 'IP_FUZZY low sale');
});

test('a link that does not resolve and a consumed click are no candidates', (t) => {
	t.is(verdict([click({isLive: false})]), 'ruled_out');
	t.is(verdict([click({isConsumed: true})]), 'consumed');
	t.is(verdict([click({isLive: false, linkId: 'other'}), click(british)]), 'FINGERPRINT_SCORED high sale');
	t.is(verdict([]), 'no_click');
});

test('an organization may switch guesses off, or ask for more confidence', (t) => {
	const off = {rules: {probabilisticMatching: false, minimumConfidence: 'low'}} as const;
	t.is(verdict([click(off)]), 'guesses_off');
	const medium = {rules: {probabilisticMatching: true, minimumConfidence: 'medium'}} as const;
	t.is(verdict([click({...medium, ...french})]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click({...medium, ...silent})]), 'below_minimum');
	t.is(verdict([click({rules: {probabilisticMatching: true, minimumConfidence: 'exact'}})]), 'below_minimum');
});

test('without a key, clicks of several organizations cost SCORED a level and IP_FUZZY everything', (t) => {
	const foreign = click({...silent, organizationId: 'globex', linkId: 'globex'});
	t.is(verdict([click(british), foreign], {isConfined: false}), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click(british), foreign]), 'FINGERPRINT_SCORED high sale');
	t.is(verdict([click(silent), foreign], {isConfined: false}), 'ambiguous');
});

test('a crowded address costs SCORED a level and IP_FUZZY everything, a full one both', (t) => {
	t.is(verdict([click(british)], {openNearby: 20}), 'FINGERPRINT_SCORED high sale');
	t.is(verdict([click(british)], {openNearby: 21}), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click(silent)], {openNearby: 21}), 'ambiguous');
	t.is(verdict([click(british)], {openNearby: 50}), 'ambiguous');
});

test('`high` is for clicks of the last ten minutes', (t) => {
	t.is(verdict([click({age: 600})]), 'FINGERPRINT_EXACT high sale');
	t.is(verdict([click({age: 601})]), 'FINGERPRINT_EXACT medium sale');
	t.is(verdict([click({...british, age: 600})]), 'FINGERPRINT_SCORED high sale');
	t.is(verdict([click({...british, age: 601})]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click({...french, age: 601})]), 'FINGERPRINT_SCORED medium sale');
	const strict = {rules: {probabilisticMatching: true, minimumConfidence: 'high'}} as const;
	t.is(verdict([click({...strict, age: 601})]), 'below_minimum');
});

test('a newer click on another link that nothing speaks against keeps a guess from `high`', (t) => {
	const untimed = {linkId: 'other', signals: {timezone: null}};
	t.is(verdict([click(), click({...untimed, age: 60})]), 'FINGERPRINT_EXACT medium sale');
	t.is(verdict([click(), click({...silent, linkId: 'other', age: 60})]), 'FINGERPRINT_EXACT medium sale');
	t.is(verdict([click(british), click({...silent, linkId: 'other', age: 60})]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click(french), click({...silent, linkId: 'other', age: 60})]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click(), click({...untimed, age: 120})]), 'FINGERPRINT_EXACT high sale');
	t.is(verdict([click(), click({...untimed, age: 180})]), 'FINGERPRINT_EXACT high sale');
	t.is(verdict([click(), click({...untimed, linkId: 'sale', age: 60})]), 'FINGERPRINT_EXACT high sale');
});

test('a newer click that a signal speaks against, or that cannot win, leaves `high` as it is', (t) => {
	const beside = (other: Parameters<typeof click>[0]) =>
		verdict([click(), click({linkId: 'other', age: 60, ...other})]);
	t.is(beside(french), 'FINGERPRINT_EXACT high sale');
	t.is(beside({signals: {timezone: 'Asia/Tokyo'}}), 'FINGERPRINT_EXACT high sale');
	t.is(beside({signals: {platform: 'android'}}), 'FINGERPRINT_EXACT high sale');
	t.is(beside({...silent, isConsumed: true}), 'FINGERPRINT_EXACT high sale');
	t.is(beside({...silent, isLive: false}), 'FINGERPRINT_EXACT high sale');
	t.is(beside({...silent, nearness: 'network'}), 'FINGERPRINT_EXACT high sale');
	const off = {probabilisticMatching: false, minimumConfidence: 'low'} as const;
	t.is(beside({...silent, rules: off}), 'FINGERPRINT_EXACT medium sale');
});

test('in company of more than eight open clicks `high` asks for 80 points', (t) => {
	// 78 points, as a Safari that freezes its version has them.
	const vague = {signals: {osVersion: {major: 17, minor: null, patch: null, precision: 'major'} as const}};
	const among = (count: number, winner: Candidate, others: Parameters<typeof click>[0] = {}) =>
		verdict([winner, ...Array.from({length: count - 1}, () => click({...french, age: 600, ...others}))]);
	t.is(among(8, click(vague)), 'FINGERPRINT_EXACT high sale');
	t.is(among(9, click(vague)), 'FINGERPRINT_EXACT medium sale');
	t.is(among(9, click(british)), 'FINGERPRINT_SCORED medium sale');
	t.is(among(40, click()), 'FINGERPRINT_EXACT high sale');
	t.is(among(9, click(vague), {signals: {platform: 'android'}}), 'FINGERPRINT_EXACT medium sale');
	t.is(among(9, click(vague), {age: HOUR}), 'FINGERPRINT_EXACT medium sale');
	t.is(among(9, click(vague), {age: HOUR + 1}), 'FINGERPRINT_EXACT high sale');
	t.is(among(9, click(vague), {organizationId: 'globex'}), 'FINGERPRINT_EXACT high sale');
	t.is(among(9, click(vague), {isConsumed: true}), 'FINGERPRINT_EXACT high sale');
	t.is(among(9, click(vague), {nearness: 'network'}), 'FINGERPRINT_EXACT high sale');
});

test('the network is enough for a score, and never for an exact fingerprint or the address', (t) => {
	t.is(verdict([click({nearness: 'network'})]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click({nearness: 'network', ...silent})]), 'below_threshold');
});

test('the trace has the best candidate first and those that contradict last', (t) => {
	const {weighed} = guess([
		click({linkId: 'android', signals: {platform: 'android'}}),
		click({linkId: 'french', ...french}),
		click({linkId: 'british', ...british}),
	]);
	t.deepEqual(
		weighed.map(({candidate, ruledOut}) => [candidate.linkId, ruledOut]),
		[
			['british', null],
			['french', null],
			['android', 'platform'],
		],
	);
});
