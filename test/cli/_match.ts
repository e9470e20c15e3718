import type {ExecutionContext} from 'ava';
import type {TestOrganization} from '../helpers/builders.ts';

export const attemptsOf = async ({operator}: TestOrganization) => (await operator.get('/matches')).body.data;

export const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

/** Asserts the values that stand behind these names of the first column; undefined for a name that is not there. */
export const shows = (t: ExecutionContext, text: string, expected: Record<string, string | undefined>): void => {
	const shown = (name: string) => new RegExp(`^${name} {2,}(.*)$`, 'm').exec(text)?.[1];
	t.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, shown(name)])), expected);
};
