import {createBaseline, rules} from './baselines.ts';
import {createOplink} from './oplink.ts';
import {type ScenarioName, scenarios} from './parameters.ts';
import {misreading} from './reading.ts';
import {createStory} from './story.ts';
import {type Result, replay, type Tally, tally} from './tally.ts';

/** What became of the first opens of one scenario, over all seeds. */
export type Judged = {
	name: string;
	opens: number;
	/** Guesses alone and the whole system with a key, and both without one. */
	guesses: Result[];
	whole: Result[];
	guessesWithoutKey: Result[];
	wholeWithoutKey: Result[];
	/** The other rules, by name; guesses alone with a key. */
	others: Map<string, Result[]>;
	/** What the product read wrongly of a phone. */
	misread: string[];
};

/** Plays each scenario with each seed to the product and to the others' rules. */
export const judge = (names: readonly ScenarioName[], seeds: readonly number[], scale: number): Judged[] =>
	names.map((name) => {
		const scenario = {...scenarios[name], people: Math.round(scenarios[name].people * scale)};
		const judged: Judged = {
			name,
			opens: 0,
			guesses: [],
			whole: [],
			guessesWithoutKey: [],
			wholeWithoutKey: [],
			others: new Map(rules.map((rule) => [rule.name, []])),
			misread: [],
		};
		for (const seed of seeds) {
			const story = createStory(scenario, seed);
			const play = (tokens: boolean, key: boolean) => replay(story, createOplink({tokens, key}));
			judged.guesses.push(...play(false, true));
			judged.whole.push(...play(true, true));
			// One tenant has nobody whose links it could give away.
			if (scenario.tenants > 1) {
				judged.guessesWithoutKey.push(...play(false, false));
				judged.wholeWithoutKey.push(...play(true, false));
			}

			for (const rule of rules) {
				judged.others.get(rule.name)?.push(...replay(story, createBaseline(rule, {key: true})));
			}

			judged.misread.push(
				...story.events.flatMap((event) => (event.type === 'click' ? (misreading(event) ?? []) : [])),
			);
		}

		return {...judged, opens: judged.guesses.length};
	});

/** The same scenarios of several runs of `judge`, as one run of all their seeds. */
export const together = ([first = [], ...others]: ReadonlyArray<readonly Judged[]>): Judged[] =>
	first.map((one, index) => {
		const all = [one, ...others.flatMap((judged) => judged[index] ?? [])];
		return {
			name: one.name,
			opens: all.reduce((sum, {opens}) => sum + opens, 0),
			guesses: all.flatMap(({guesses}) => guesses),
			whole: all.flatMap(({whole}) => whole),
			guessesWithoutKey: all.flatMap(({guessesWithoutKey}) => guessesWithoutKey),
			wholeWithoutKey: all.flatMap(({wholeWithoutKey}) => wholeWithoutKey),
			others: new Map(rules.map(({name}) => [name, all.flatMap(({others: of}) => of.get(name) ?? [])])),
			misread: all.flatMap(({misread}) => misread),
		};
	});

/** All scenarios in one tally. */
export const pooled = (
	judged: readonly Judged[],
	of: (one: Judged) => readonly Result[],
	isCounted?: (result: Result) => boolean,
): Tally => tally(judged.flatMap(of), isCounted);
