import {isOfPeople} from '../click-context.ts';
import type {Section} from './section.ts';

/** A click with what reports count of it. Its values stay in the form of COPY. */
type CountedClick = {
	id: string;
	/** Such as 2026-03-10T12:07:30.000Z. */
	time: string;
	organizationId: string;
	linkId: string;
	contextId: string;
	/** Whether it is a person's (1 or 0), platform, country, channel and referrer, with tabs between them. */
	counted: string;
};

/** The values of a context row that reports count. */
const countedOf = (row: string): string => {
	const [, platform, , , , , , , country] = row.split('\t');
	return `${isOfPeople(row) ? 1 : 0}\t${platform}\t${country}`;
};

/**
 * The clicks of a batch without their matches. Rows are cut where ids and times end, which have a fixed length: an
 * entry of each (`entriesOf`) takes several times as long.
 */
export function* countedClicks(sections: readonly Section[]): Generator<CountedClick> {
	for (const {clicks, contexts} of sections) {
		const known = new Map(Object.entries(contexts).map(([id, row]) => [id, countedOf(row)]));
		const rows = clicks.toString();
		for (let from = 0; from < rows.length; ) {
			const [end, rest] = [rows.indexOf('\n', from), rows.indexOf('\t', from + 136)];
			const contextId = rows.slice(from + 136, rest);
			yield {
				id: rows.slice(from, from + 36),
				time: rows.slice(from + 37, from + 61),
				organizationId: rows.slice(from + 62, from + 98),
				linkId: rows.slice(from + 99, from + 135),
				contextId,
				counted: `${known.get(contextId)}${rows.slice(rest, end)}`,
			};
			from = end + 1;
		}
	}
}
