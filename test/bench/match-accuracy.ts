import test from 'ava';
import {changePolicy} from '../../bench/match-accuracy/change-policy.ts';
import {ofConfidence, playBaselines, playOplink} from '../../bench/match-accuracy/measure.ts';
import {tellStory} from '../../bench/match-accuracy/story.ts';
import {type Result, tally, wilson} from '../../bench/match-accuracy/tally.ts';
import {matchPolicy} from '../../src/match/match-policy.ts';

const week = {people: 6000, seed: 1, crowding: 1};
const story = tellStory(week);
const guesses = playOplink(story, {tokens: false, key: true});
const whole = playOplink(story, {tokens: true, key: true});

test('the same seed tells the same week', (t) => {
	t.deepEqual(tellStory({...week, people: 200}).events, tellStory({...week, people: 200}).events);
	t.notDeepEqual(tellStory({...week, people: 200}).events, tellStory({...week, people: 200, seed: 2}).events);
});

test('nothing crosses tenants where apps send their key, and some guesses do where they send none', (t) => {
	t.is(tally(guesses).wrongTenant, 0);
	t.is(tally(whole).wrongTenant, 0);
	t.true(tally(playOplink(story, {tokens: false, key: false})).wrongTenant > 0);
});

test('proof is always right', (t) => {
	const {matches, right} = tally(whole, ofConfidence('exact'));
	t.true(matches > 500);
	t.is(right, matches);
});

test('guesses are right more often than by any other rule, and find more than by any that is published', (t) => {
	const own = tally(guesses);
	for (const {name, isPublished, tally: other} of playBaselines(story, {tokens: false, key: true})) {
		t.true(own.precision > other.precision, name);
		// The longest window of those that nobody publishes finds a little more.
		t.true(own.recall > other.recall - (isPublished ? 0 : 0.03), name);
	}
});

test('more sureness is more often right', (t) => {
	const [high, medium, low] = (['high', 'medium', 'low'] as const).map((one) => tally(guesses, ofConfidence(one)));
	t.true((high?.precision ?? 0) > (medium?.precision ?? 1));
	t.true((medium?.precision ?? 0) > (low?.precision ?? 1));
});

test('`high` is right in 99.5 % of guesses, and of all matches what is `high` or `exact` in 99.8 %', (t) => {
	const high = tally(guesses, ofConfidence('high'));
	t.true(high.matches > 300);
	t.true(high.precision >= 0.995, String(high.precision));
	const sure = tally(whole, ({answer}) => answer.confidence === 'exact' || answer.confidence === 'high');
	t.true(sure.precision >= 0.998, String(sure.precision));
});

test('the rules for `high` lower confidences and change no match', (t) => {
	const lifted = changePolicy(matchPolicy, [
		'high.withinSeconds=604800',
		'high.newerRivals=1000',
		'high.company.clicks=1000',
	]);
	const before = playOplink(story, {tokens: false, key: true}, lifted);
	const matches = (results: Result[]) => results.map(({answer: {click}}) => click?.id ?? null);
	t.deepEqual(matches(guesses), matches(before));
	t.true(tally(before, ofConfidence('high')).matches > tally(guesses, ofConfidence('high')).matches);
});

test("Wilson's interval is that of the textbook", (t) => {
	t.deepEqual(
		wilson(9, 10).map((bound) => bound.toFixed(4)),
		['0.5958', '0.9821'],
	);
	t.deepEqual(wilson(0, 0), [0, 1]);
});
