import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {RecordedAnswer} from '../helpers/answers.ts';
import {checkAnswer, routeOf} from './documented.ts';

/**
 * Compares a run's answers with the API's document: `node check-answers.js FOLDER`. Prints deviations, and ends with 1
 * if there are any.
 */

const [folder = ''] = process.argv.slice(2);
const faults = new Map<string, string>();
let count = 0;
for (const name of readdirSync(folder)) {
	for (const line of readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean)) {
		const recorded = JSON.parse(line) as RecordedAnswer;
		const route = routeOf(recorded.method === 'HEAD' ? 'GET' : recorded.method, recorded.path.split('?', 1)[0] ?? '');
		const fault = checkAnswer(recorded);
		count += 1;
		if (fault !== null) {
			faults.set(
				`${recorded.method} ${route?.path ?? recorded.path} ${recorded.status}: ${fault}`,
				`${recorded.path} ${recorded.text?.slice(0, 600) ?? ''}`,
			);
		}
	}
}

for (const [fault, example] of faults) {
	console.log(`${fault}\n  ${example}`);
}

console.log(`${count} answers compared with the document, ${faults.size} kinds of them do not fit`);
process.exitCode = faults.size === 0 ? 0 : 1;
