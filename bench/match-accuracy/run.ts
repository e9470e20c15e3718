import {parseArgs} from 'node:util';
import {judge, together} from './judge.ts';
import {type ScenarioName, scenarios, seeds} from './parameters.ts';
import {describe} from './report.ts';

const {values} = parseArgs({
	options: {
		/** Look at the seeds for development instead of those that confirm. */
		development: {type: 'boolean', default: false},
		/** Other seeds, comma-separated. */
		seeds: {type: 'string', default: ''},
		/** How many times the people of each scenario. */
		scale: {type: 'string', default: '1'},
		/** One scenario, by its name; any number of times. */
		scenario: {type: 'string', multiple: true, default: []},
	},
});
const chosen =
	values.seeds === ''
		? seeds[values.development ? 'development' : 'confirmation']
		: values.seeds.split(',').map(Number);
const names = (values.scenario.length === 0 ? Object.keys(scenarios) : values.scenario) as ScenarioName[];
const scale = Number(values.scale);
if (!(scale > 0) || chosen.some((seed) => !Number.isInteger(seed)) || names.some((name) => !(name in scenarios))) {
	console.error('usage: run.ts [--development | --seeds 1,2] [--scale N] [--scenario NAME]...');
	process.exit(64);
}

const pairs = Array.from({length: Math.ceil(chosen.length / 2)}, (_, index) =>
	chosen.slice(2 * index, 2 * index + 2),
).map((pair) => ({seeds: pair, judged: judge(names, pair, scale)}));
const {text, isMet} = describe(together(pairs.map(({judged}) => judged)), pairs);
console.log(`Seeds ${chosen.join(', ')}, scale ${scale}.\n\n${text}`);
process.exitCode = isMet ? 0 : 1;
