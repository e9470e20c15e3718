import test from 'ava';
import {
	baselines,
	narrowest,
	narrowHigh,
	ofConfidence,
	playBaselines,
	playOplink,
} from '../../bench/match-accuracy/measure.ts';
import {tellStory} from '../../bench/match-accuracy/story.ts';
import {tally, wilson} from '../../bench/match-accuracy/tally.ts';

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

test('guesses are right more often than any other rule, and find more than all but the longest window', (t) => {
	const own = tally(guesses);
	for (const {name, tally: other} of playBaselines(story, {tokens: false, key: true})) {
		t.true(own.precision > other.precision, name);
		t.true(own.recall > other.recall - (name === baselines[0]?.name ? 0.03 : 0), name);
	}
});

test('more sureness is more often right', (t) => {
	const [high, medium, low] = (['high', 'medium', 'low'] as const).map((one) => tally(guesses, ofConfidence(one)));
	t.true((high?.precision ?? 0) > (medium?.precision ?? 1));
	t.true((medium?.precision ?? 0) > (low?.precision ?? 1));
});

test('`high` is right in 99.5 % where the click is fresh, the address quiet, and nothing newer there', (t) => {
	const narrowed = narrowHigh(guesses, narrowest);
	t.true(narrowed.matches > 200);
	t.true(narrowed.precision >= 0.995, String(narrowed.precision));
});

// The bar of `high` as a whole: docs/match-accuracy.md says what keeps it from being met, and what would.
test.failing('`high` is right in 99.5 %', (t) => {
	t.true(tally(guesses, ofConfidence('high')).precision >= 0.995);
});

test("Wilson's interval is that of the textbook", (t) => {
	t.deepEqual(
		wilson(9, 10).map((bound) => bound.toFixed(4)),
		['0.5958', '0.9821'],
	);
	t.deepEqual(wilson(0, 0), [0, 1]);
});
