import test from 'ava';
import {judge, pooled} from '../../bench/match-accuracy/judge.ts';
import {scenarios, seeds} from '../../bench/match-accuracy/parameters.ts';
import {check} from '../../bench/match-accuracy/report.ts';
import {createStory} from '../../bench/match-accuracy/story.ts';
import {calibration, ofConfidence} from '../../bench/match-accuracy/tally.ts';

const [seed] = seeds.development;
const judged = judge(['plain US app', 'campus', 'agency of 20'], [seed], 0.1);

test('the same seed creates the same week, and another seed another', (t) => {
	const few = {...scenarios.households, people: 100};
	t.deepEqual(createStory(few, 1).events, createStory(few, 1).events);
	t.notDeepEqual(createStory(few, 1).events, createStory(few, 2).events);
});

test('proof is always right', (t) => {
	const {matches, right} = pooled(judged, ({whole}) => whole, ofConfidence('exact'));
	t.true(matches > 100);
	t.is(right, matches);
});

test('a key keeps tenants apart, and without it no guess across them is high', (t) => {
	t.is(pooled(judged, ({guesses}) => guesses).wrongTenant, 0);
	t.is(pooled(judged, ({whole}) => whole).wrongTenant, 0);
	t.is(pooled(judged, ({guessesWithoutKey}) => guessesWithoutKey, ofConfidence('high')).wrongTenant, 0);
});

test('guesses are right more often than those of rules that find as much', (t) => {
	const own = pooled(judged, ({guesses}) => guesses);
	t.true((own.precision ?? 0) >= 0.9, String(own.precision));
	for (const name of ['newest of the address, 24 h', 'Branch', 'LinkForty', 'Detour']) {
		const other = pooled(judged, ({others}) => others.get(name) ?? []);
		t.true((own.precision ?? 0) > (other.precision ?? 1), `${name}: ${other.precision}`);
	}
});

test('predictions stand in bins beside what is seen', (t) => {
	const [{open, answer} = t.fail()] = judged.flatMap(({guesses}) => guesses).filter(({answer: one}) => one !== null);
	const results = [0.5, 0.6, 0.9, 1].map((probability) => ({
		open,
		answer: answer && {...answer, probability},
		verdict: probability < 0.6 ? ('no click' as const) : ('right' as const),
	}));
	t.deepEqual(calibration(results, [0.5, 0.8, 1]), [
		{low: 0.5, high: 0.8, guesses: 2, predicted: 0.55, seen: 0.5},
		{low: 0.8, high: 1, guesses: 2, predicted: 0.95, seen: 1},
	]);
});

test('a criterion is not met where nothing is seen', (t) => {
	const nothing = judged.map((one) => ({...one, guesses: [], whole: [], misread: []}));
	const found = check(nothing).flatMap(({name, isMet}) => (isMet ? [name] : []));
	t.deepEqual(found, ['wrong tenants with a key', 'phones that the product reads wrongly']);
});
