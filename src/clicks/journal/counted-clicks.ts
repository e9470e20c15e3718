import {isOfPeople} from '../click-context.ts';
import {cutRows} from './entry.ts';
import type {Section} from './section.ts';

/** The values of a context row that reports count. */
const countedOf = (row: string): string => {
	const [, platform, , , , , , , country] = row.split('\t');
	return `${isOfPeople(row) ? 1 : 0}\t${platform}\t${country}`;
};

/**
 * The clicks of a batch without their matches. `counted`: whether it is a person's (1 or 0), platform, country, channel
 * and referrer, in the form of COPY.
 */
export function* countedClicks(sections: readonly Section[]) {
	for (const {clicks, contexts} of sections) {
		const known = new Map(Object.entries(contexts).map(([id, row]) => [id, countedOf(row)]));
		for (const click of cutRows(clicks.toString())) {
			yield {...click, counted: `${known.get(click.contextId)}${click.rest}`};
		}
	}
}
