import type {MatchPolicy} from '../../src/match/match-policy.ts';
import {baselines, ofConfidence, playBaselines, playOplink} from './measure.ts';
import {percent, range, table} from './report.ts';
import {tellStory} from './story.ts';
import {type Tally, tally} from './tally.ts';

const KEYED_GUESSES = {tokens: false, key: true};

/** The figures of guesses with a key over several weeks, as they are and with twice as many people behind an address. */
export const sensitivity = (people: number, seeds: number[], policy: MatchPolicy): string => {
	const runs = [1, 2].map((crowding) => {
		const weeks = seeds.map((seed) => {
			const story = tellStory({people, seed, crowding});
			const results = playOplink(story, KEYED_GUESSES, policy);
			return {
				high: tally(results, ofConfidence('high')),
				rows: [{name: 'Oplink', tally: tally(results)}, ...playBaselines(story, KEYED_GUESSES)],
			};
		});
		const cells = (tallies: Tally[]) => {
			const sum = (part: 'right' | 'matches') => tallies.reduce((total, one) => total + one[part], 0);
			const recalls = tallies.map(({recall}) => recall);
			const mean = recalls.reduce((total, recall) => total + recall, 0) / recalls.length;
			const precisions = tallies.map(({precision}) => precision);
			return [
				`${percent(sum('right') / sum('matches'), 2)} (${range(precisions)})`,
				`${percent(mean)} (${range(recalls)})`,
			];
		};
		const ofRow = (index: number) => cells(weeks.flatMap(({rows}) => rows[index]?.tally ?? []));
		return [cells(weeks.map(({high}) => high)), ofRow(0), ...baselines.map((_, index) => ofRow(index + 1))];
	});
	const names = ['Oplink, high', 'Oplink, all', ...baselines.map(({name}) => name)];
	return table(
		['all weeks (lowest to highest)', 'precision', 'recall', 'precision, crowded', 'recall, crowded'],
		names.map((name, index) => [name, ...runs.flatMap((run) => run[index] ?? [])]),
	);
};
