import {parseArgs} from 'node:util';
import {matchPolicy} from '../../src/match/match-policy.ts';
import {changePolicy} from './change-policy.ts';
import {ofConfidence, playOplink} from './measure.ts';
import {percent, table} from './report.ts';
import {tellStory} from './story.ts';
import {type Tally, tally, wilson} from './tally.ts';

/** What `--set` is given to lift each of the policy's rules for `high`. */
const noAge = 'high.withinSeconds=604800';
const anyNewer = 'high.newerRivals=1000';
const anyCompany = 'high.company.clicks=1000';
const nobodyBeyond = (clicks: number): string[] => [`high.company.clicks=${clicks}`, 'high.company.from=101'];
const within = (minutes: number): string => `high.withinSeconds=${minutes * 60}`;

/** What else the policy could ask of `high`, as changes of it; each alters `high` and `medium` alone. */
export const alternatives: ReadonlyArray<{name: string; changes: string[]}> = [
	{name: 'as decided', changes: []},
	{name: 'none of the three rules', changes: [noAge, anyNewer, anyCompany]},
	{name: 'only: 10 min', changes: [anyNewer, anyCompany]},
	{name: 'only: no newer rival', changes: [noAge, anyCompany]},
	{name: 'only: 80 points beyond 8 clicks', changes: [noAge, anyNewer]},
	{name: 'without the age', changes: [noAge]},
	{name: 'without the newer rival', changes: [anyNewer]},
	{name: 'without the company', changes: [anyCompany]},
	{name: '5 min', changes: [within(5)]},
	{name: '15 min', changes: [within(15)]},
	{name: '30 min', changes: [within(30)]},
	{name: '80 points beyond 3 clicks', changes: ['high.company.clicks=3']},
	{name: '80 points beyond 20 clicks', changes: ['high.company.clicks=20']},
	{name: 'nobody beyond 20 clicks', changes: nobodyBeyond(20)},
	{name: 'nobody beyond 8 clicks', changes: nobodyBeyond(8)},
	{name: '5 min, nobody beyond 3 clicks', changes: [within(5), ...nobodyBeyond(3)]},
];

const {values} = parseArgs({
	options: {
		people: {type: 'string', default: '20000'},
		seed: {type: 'string', default: '21'},
		weeks: {type: 'string', default: '8'},
		crowding: {type: 'string', default: '1'},
	},
});
const {
	people = 0,
	seed = 0,
	weeks = 0,
	crowding = 0,
} = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
if (!Number.isInteger(people + seed + weeks) || people < 1 || weeks < 1 || !(crowding >= 1)) {
	console.error('usage: high.ts [--people N] [--seed S] [--weeks N] [--crowding N]');
	process.exit(64);
}

const tallies = new Map<string, Tally[]>();
for (let week = 0; week < weeks; week += 1) {
	const story = tellStory({people, seed: seed + week, crowding});
	for (const tokens of [false, true]) {
		for (const {name, changes} of alternatives) {
			const results = playOplink(story, {tokens, key: true}, changePolicy(matchPolicy, changes));
			const row = `${tokens} ${name}`;
			tallies.set(row, [...(tallies.get(row) ?? []), tally(results, ofConfidence('high'))]);
		}
	}
}

const cellsOf = (name: string, tokens: boolean): string[] => {
	const all = tallies.get(`${tokens} ${name}`) ?? [];
	const sum = (part: 'right' | 'matches') => all.reduce((total, one) => total + one[part], 0);
	const [right, matches] = [sum('right'), sum('matches')];
	return [
		String(matches),
		percent(right / matches, 2),
		wilson(right, matches)
			.map((bound) => (bound * 100).toFixed(2))
			.join(' to '),
		percent(Math.min(...all.map(({precision}) => precision))),
	];
};

const head = (kind: string) => [`${kind}`, 'precision', '95 %', 'lowest week'];
console.log(`${weeks} weeks of ${people} people from seed ${seed}, crowding ${crowding}, with a key: \`high\` alone\n`);
console.log(
	table(
		['what `high` asks for', ...head('guesses alone'), ...head('whole system')],
		alternatives.map(({name}) => [name, ...cellsOf(name, false), ...cellsOf(name, true)]),
	),
);
