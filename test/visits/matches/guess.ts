import test from 'ava';
import type {Db} from '../../../src/platform/db/db.ts';
import type {Metrics} from '../../../src/platform/metrics/metrics.ts';
import type {Candidate} from '../../../src/visits/matches/candidate.ts';
import {createFollowUps} from '../../../src/visits/matches/follow-ups.ts';
import {type Circumstances, guessClick} from '../../../src/visits/matches/guess.ts';
import {matchPolicy} from '../../../src/visits/matches/match-policy.ts';
import {normalize, type RawSignals} from '../../../src/visits/matches/match-signals.ts';
import type {FirstPhone, PhoneBook} from '../../../src/visits/matches/phone-book.ts';
import {app, counted, now, reported} from './_weighing.ts';

const HOUR = 3600;

let made = 0;
const click = ({
	age = 120,
	signals = {},
	...rest
}: Partial<Omit<Candidate, 'signals'>> & {age?: number; signals?: Partial<RawSignals>} = {}): Candidate => {
	made += 1;
	return {
		id: String(made).padStart(6, '0'),
		organizationId: 'acme',
		linkId: 'sale',
		clickedAt: new Date(now.getTime() - age * 1000),
		expiresAt: new Date(now.getTime() + 100 * HOUR * 1000),
		nearness: 'ip',
		signals: normalize({...reported, ...signals}),
		isConsumed: false,
		isLive: true,
		isBlocked: false,
		isRelay: false,
		rules: {probabilisticMatching: true, minimumConfidence: 'low'},
		visitor: null,
		browser: null,
		...rest,
	};
};

/** 100 phones, of which so many are like the app's; the others are of another platform. */
const among = (count: number) => [counted(count), counted(100 - count, {platform: 'android', osVersion: null})];

/** None of the counted phones is like the app's. */
const rare = {phones: [counted(300, {platform: 'android'})]};

const guess = (clicks: Candidate[], circumstances: Partial<Circumstances> = {}, opened = app) =>
	guessClick(
		clicks,
		opened,
		{now, isConfined: true, clicksLast24h: clicks.length, phones: among(3), hasToken: false, ...circumstances},
		matchPolicy,
	);

const verdict = (...given: Parameters<typeof guess>) => {
	const {guess: made, reason} = guess(...given);
	return made === null ? reason : `${made.method} ${made.confidence} ${made.candidate.linkId}`;
};

/** Alike, but for a language that costs it the exact fingerprint. */
const british = {signals: {language: 'en-GB'}};
const french = {signals: {language: 'fr-FR'}};
/** Nothing known. */
const silent = {signals: {platform: null, osVersion: null, language: null, timezone: null}};

test('one click that is alike in everything is an exact fingerprint', (t) => {
	t.is(verdict([click()]), 'FINGERPRINT_EXACT high sale');
	t.is(verdict([click()], {phones: []}), 'FINGERPRINT_EXACT high sale');
});

test('two exact fingerprints on one link are not ambiguous: the newest wins', (t) => {
	const [older, newer] = [click({age: 300}), click({age: 60})];
	t.like(guess([older, newer]).guess, {method: 'FINGERPRINT_EXACT', candidate: newer});
});

test('two exact fingerprints on different links are scored, and where few people click the newest wins', (t) => {
	t.is(verdict([click({linkId: 'first', age: 300}), click({linkId: 'second'})]), 'FINGERPRINT_SCORED medium second');
	const [one, other] = [click({linkId: 'one'}), click({linkId: 'other'})];
	t.is(verdict([other, one]), 'FINGERPRINT_SCORED medium other');
});

test('confidence follows the probability', (t) => {
	const levels = [1, 100, 1000].map(
		(made) => guess([click({age: 480})], {clicksLast24h: made, phones: among(60)}).guess?.confidence,
	);
	t.deepEqual(levels, ['medium', 'low', undefined]);
	for (const made of [1, 5, 15, 30]) {
		const {guess: found} = guess([click({age: 480})], {clicksLast24h: made, phones: among(40)});
		const from = {high: 99, medium: 80, low: 50}[found?.confidence ?? 'high'];
		t.true((found?.score ?? 0) >= from, `${made} ${found?.score}`);
	}
});

test('the probability of a link is that of its clicks together, and all add up with nobody', (t) => {
	const clicks = [click({age: 60}), click({age: 90}), click({linkId: 'b'})];
	const {weighed, nobody, guess: made} = guess(clicks, {clicksLast24h: 40});
	t.true(Math.abs(weighed.reduce((sum, {probability}) => sum + probability, nobody) - 1) < 1e-9);
	t.is(made?.candidate.linkId, 'sale');
	const ofLink = weighed.filter(({candidate}) => candidate.linkId === 'sale');
	t.is(made?.score, Math.round(ofLink.reduce((sum, {probability}) => sum + probability, 0) * 100));
});

test('where many click with common phones, several links share the probability: ambiguous', (t) => {
	const clicks = Array.from({length: 30}, (_, index) => click({linkId: `link ${index}`, age: 100 + index}));
	t.is(verdict(clicks, {clicksLast24h: 30, phones: among(60)}), 'ambiguous');
	t.is(verdict([click({age: 3 * HOUR})], {clicksLast24h: 100, phones: among(60)}), 'below_threshold');
});

test('a click of which only the address is known is IP_FUZZY and low', (t) => {
	t.is(verdict([click(silent)]), 'IP_FUZZY low sale');
	t.is(verdict([click(silent), click({...silent, age: 300, linkId: 'other'})]), 'ambiguous');
	t.is(verdict([click({signals: {osVersion: null, language: null, timezone: null}})]), 'IP_FUZZY low sale');
	t.is(verdict([click({...silent, nearness: 'network'})]), 'below_threshold');
});

test('each method has its window', (t) => {
	const iPhone = {...app, model: 'iphone15,2'};
	const ofModel = {deviceModel: 'iPhone15,2'};
	t.is(verdict([click({age: 12 * HOUR, signals: ofModel})], rare, iPhone), 'FINGERPRINT_EXACT medium sale');
	t.is(verdict([click({age: 24 * HOUR + 1})]), 'outside_window');
	t.is(verdict([click({...british, age: 6 * HOUR})], rare), 'FINGERPRINT_SCORED medium sale');
	const late = click({signals: {...ofModel, language: 'en-GB'}, age: 6 * HOUR + 1});
	t.is(verdict([late], rare, iPhone), 'outside_window');
	t.is(verdict([click({...silent, age: HOUR / 3})], rare), 'IP_FUZZY low sale');
	t.is(verdict([click({...silent, age: HOUR + 1})], rare), 'outside_window');
	t.is(verdict([click({expiresAt: now})]), 'outside_window');
});

test('a contradiction rules out of every guess, and a click that is ruled out does not compete either', (t) => {
	const android = click({linkId: 'other', age: 60, signals: {platform: 'android'}});
	t.is(verdict([android]), 'ruled_out');
	t.is(verdict([click({signals: {platform: 'desktop'}})]), 'ruled_out');
	t.is(verdict([click({signals: {osVersion: {major: 18, minor: 1, patch: 0, precision: 'patch'}}})]), 'ruled_out');
	t.is(guess([android]).weighed[0]?.ruledOut, 'platform');
	t.is(verdict([click(silent), android]), 'IP_FUZZY low sale');
});

test('a click of a link that does not resolve and a consumed click are not candidates', (t) => {
	t.is(verdict([click({isLive: false})]), 'ruled_out');
	t.is(verdict([click({isConsumed: true})]), 'consumed');
	t.is(verdict([click({isLive: false, linkId: 'other', age: 60}), click(british)]), 'FINGERPRINT_SCORED high sale');
	t.is(verdict([]), 'no_click');
});

test('an organization may switch guesses off, though its clicks are rivals, or ask for more confidence', (t) => {
	const off = {rules: {probabilisticMatching: false, minimumConfidence: 'low'}} as const;
	t.is(verdict([click(off)]), 'guesses_off');
	t.is(verdict([click({age: 300}), click({linkId: 'other', age: 60, ...off})]), 'guesses_off');
	const medium = {rules: {probabilisticMatching: true, minimumConfidence: 'medium'}} as const;
	t.is(verdict([click({...medium, age: 900})]), 'FINGERPRINT_EXACT medium sale');
	t.is(verdict([click({...medium, ...silent})]), 'below_minimum');
	t.is(verdict([click({rules: {probabilisticMatching: true, minimumConfidence: 'exact'}})]), 'below_minimum');
});

test('without a key, clicks of several organizations keep a guess from high, and stop IP_FUZZY', (t) => {
	const signals = {language: 'fr-FR', timezone: 'Europe/Paris'};
	const foreign = click({signals, age: 900, organizationId: 'globex', linkId: 'globex'});
	const keyless = {isConfined: false};
	t.is(verdict([click(), foreign], keyless), 'FINGERPRINT_EXACT medium sale');
	t.is(verdict([click(british), foreign], {...keyless, phones: among(0)}), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click(british), foreign], {phones: among(0)}), 'FINGERPRINT_SCORED high sale');
	const old = {...british, age: 1000};
	t.is(verdict([click(old)]), 'FINGERPRINT_SCORED medium sale');
	t.is(verdict([click(old), foreign], keyless), 'FINGERPRINT_SCORED low sale');
	t.is(verdict([click(silent), foreign], keyless), 'ambiguous');
});

test('`high` is for clicks of the last ten minutes', (t) => {
	const verdictAt = (age: number) =>
		verdict([click({age, signals: {deviceModel: 'iPhone15,2'}})], rare, {...app, model: 'iphone15,2'});
	t.is(verdictAt(600), 'FINGERPRINT_EXACT high sale');
	t.is(verdictAt(601), 'FINGERPRINT_EXACT medium sale');
});

test('the network is at most enough for low, and never for an exact fingerprint or the address', (t) => {
	t.is(verdict([click({nearness: 'network'})], {phones: among(0)}), 'FINGERPRINT_SCORED low sale');
	t.is(verdict([click({nearness: 'network', ...silent})]), 'below_threshold');
});

test('the trace has the best candidate first and those that contradict last', (t) => {
	const {weighed} = guess([
		click({linkId: 'android', signals: {platform: 'android'}}),
		click({linkId: 'french', age: 600, ...french}),
		click({linkId: 'british', ...british}),
	]);
	const shown = weighed.map(({candidate, ruledOut}) => `${candidate.linkId} ${ruledOut}`);
	t.deepEqual(shown, ['british null', 'french null', 'android platform']);
});

test('matches that come faster than their guesses are graded keep their phones, but no guess is made for the last ones', async (t) => {
	let [guesses, noted] = [0, 0];
	const phoneBook = {
		note: async (phones: readonly unknown[]) => {
			noted += phones.length;
		},
	} as unknown as PhoneBook;
	const followUp = createFollowUps({db: {} as Db, metrics: {} as Metrics, phoneBook}, 0);
	const guess = async () => {
		guesses += 1;
		return null;
	};
	const phone = {} as FirstPhone;
	await Promise.all(Array.from({length: 1500}, () => followUp({phone, guess})));
	t.deepEqual({guesses, noted}, {guesses: 1000, noted: 1500});
	await followUp({phone, guess});
	t.is(guesses, 1001);
});
