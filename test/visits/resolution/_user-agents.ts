import {readFileSync} from 'node:fs';
import path from 'node:path';
import {packageRoot} from '../../../src/platform/package-root.ts';

export const read = (...file: string[]): string => readFileSync(path.join(packageRoot, ...file), 'utf8');

/** Our own list of User-Agents, with the class of each. */
export const corpus = read('test/fixtures/user-agents.tsv')
	.trimEnd()
	.split('\n')
	.map((line) => {
		const [expected = '', , userAgent = ''] = line.split('\t');
		return {expected, userAgent};
	});
