import {isOfPeople} from '../click-context.ts';
import {decodeRows, type Entry} from './entry.ts';

/** What the drain has to know of rows, so that it need not look into them. */
type Summary = {
	/** What clicks say, by the ids that their rows have: rows of COPY for `click_contexts` without them. */
	contexts: Record<string, string>;
	/** Lengths in bytes: rows of `clicks`, of `match_clicks` that are opened, and of those that a later visit goes on with. */
	clicks: number;
	opened: number;
	returning: number;
	/** Clicks of an organization in a month (such as 2026-03), and how many of them are people's. */
	counts: Array<{organizationId: string; month: string; clicks: number; people: number}>;
	/** Links that matches are opened on. */
	links: string[];
};

/** Rows of COPY as they are handed to PostgreSQL, and what they are about. */
export type Section = Pick<Summary, 'contexts' | 'counts' | 'links'> & {
	clicks: Buffer;
	opened: Buffer;
	returning: Buffer;
};

const NEWLINE = 10;

/** The payload of a frame that holds the entries: a line that summarizes it, and the rows of one table after the other's. */
export const encodeSection = (entries: readonly Entry[]): string => {
	let [clicks, opened, returning] = ['', '', ''];
	const counts = new Map<string, Summary['counts'][number]>();
	const links = new Set<string>();
	const contexts: Summary['contexts'] = {};
	for (const {organizationId, linkId, month, click, contextId, context, match, isReturning} of entries) {
		clicks += click;
		contexts[contextId] = context;
		const key = organizationId + month;
		let count = counts.get(key);
		if (count === undefined) {
			count = {organizationId, month, clicks: 0, people: 0};
			counts.set(key, count);
		}

		count.clicks += 1;
		count.people += isOfPeople(context) ? 1 : 0;
		if (match !== '') {
			links.add(linkId);
			if (isReturning) {
				returning += match;
			} else {
				opened += match;
			}
		}
	}

	const summary: Summary = {
		contexts,
		clicks: Buffer.byteLength(clicks),
		opened: Buffer.byteLength(opened),
		returning: Buffer.byteLength(returning),
		counts: [...counts.values()],
		links: [...links],
	};
	return `${JSON.stringify(summary)}\n${clicks}${opened}${returning}`;
};

export const decodeSection = (payload: Buffer): Section => {
	const from = payload.indexOf(NEWLINE) + 1;
	const {contexts, clicks, opened, returning, counts, links} = JSON.parse(payload.toString('utf8', 0, from)) as Summary;
	const [matches, later] = [from + clicks, from + clicks + opened];
	return {
		contexts,
		counts,
		links,
		clicks: payload.subarray(from, matches),
		opened: payload.subarray(matches, later),
		returning: payload.subarray(later, later + returning),
	};
};

export const sectionOf = (entries: readonly Entry[]): Section => decodeSection(Buffer.from(encodeSection(entries)));

/** The single clicks, for when not all of them are wanted. */
export const entriesOf = ({clicks, contexts, opened, returning}: Section): Entry[] =>
	decodeRows(clicks.toString(), contexts, opened.toString(), returning.toString());
