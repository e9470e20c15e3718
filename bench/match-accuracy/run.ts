import {parseArgs} from 'node:util';
import {matchPolicy} from '../../src/match/match-policy.ts';
import {missCauses, wrongCauses} from './causes.ts';
import {changePolicy} from './change-policy.ts';
import {breakDown, ofConfidence, playBaselines, playOplink, type Story, scoredByPlace} from './measure.ts';
import {causeTable, tallyTable} from './report.ts';
import {sensitivity} from './sensitivity.ts';
import {tellStory} from './story.ts';
import {isMatch} from './tally.ts';

const {values} = parseArgs({
	options: {
		people: {type: 'string', default: '40000'},
		seed: {type: 'string', default: '1'},
		/** People of each of the ten weeks that show how much the figures vary. */
		'sensitivity-people': {type: 'string', default: '4000'},
		/** A number of the match policy to try, as `points.network=0`; any number of times. */
		set: {type: 'string', multiple: true, default: []},
	},
});
const [people = 0, seed = 0, varied = 0] = [values.people, values.seed, values['sensitivity-people']].map(Number);
if (!Number.isInteger(people + seed + varied) || people < 1 || varied < 1) {
	console.error('usage: run.ts [--people N] [--seed S] [--sensitivity-people N] [--set points.network=0]...');
	process.exit(64);
}

const policy = changePolicy(matchPolicy, values.set);

const print = (...blocks: string[]): void => console.log(`${blocks.join('\n\n')}\n`);

const describe = ({events, measuredFrom}: Story): string => {
	const opens = events.flatMap((event) => (event.type === 'open' && event.at >= measuredFrom ? [event] : []));
	const deferred = opens.filter(({cause}) => cause !== null).length;
	return [
		`${people} people, seed ${seed}: ${events.filter(({type}) => type === 'click').length} clicks in seven days;`,
		`${opens.length} first opens from the second day on, ${deferred} of them after a click.`,
		...(values.set.length === 0 ? [] : [`Changed: ${values.set.join(', ')}.`]),
	].join(' ');
};

const started = performance.now();
const story = tellStory({people, seed, crowding: 1});
print('# Match accuracy', describe(story));
for (const key of [true, false]) {
	const guesses = playOplink(story, {tokens: false, key}, policy);
	const whole = playOplink(story, {tokens: true, key}, policy);
	print(
		`## ${key ? 'With' : 'Without'} a key`,
		tallyTable('guesses alone', breakDown(guesses)),
		tallyTable('other rules, without tokens', playBaselines(story, {tokens: false, key})),
		tallyTable('whole system', breakDown(whole)),
		'### What drives the errors',
		tallyTable('scored, guesses alone', scoredByPlace(guesses)),
		tallyTable('scored, whole system', scoredByPlace(whole)),
		causeTable('guesses alone: installs without their link', missCauses(guesses)),
		causeTable('guesses alone: wrong matches', wrongCauses(guesses)),
		causeTable(
			'guesses alone: wrong matches with `high`',
			wrongCauses(guesses.filter(isMatch).filter(ofConfidence('high'))),
		),
	);
}

const seeds = [1, 2, 3, 4, 5].map((step) => seed + step);
print(
	'## How much it varies',
	`Guesses alone, with a key: ${varied} people, seeds ${seeds.join(', ')}; crowded: twice as many behind each shared address.`,
	sensitivity(varied, seeds, policy),
	`${((performance.now() - started) / 1000).toFixed(0)} s`,
);
