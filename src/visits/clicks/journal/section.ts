import {isOfPeople} from '../click-context.ts';
import {decodeRows, type Entry} from './entry.ts';

/** A summary of the rows, so that the drain need not parse them. */
type Summary = {
	/** The contexts by the ids in the rows: rows of COPY for `click_contexts` without their ids. */
	contexts: Record<string, string>;
	/** The same of campaigns, for `click_campaigns`. */
	campaigns: Record<string, string>;
	/** Clicks per organization and month (such as 2026-03), and how many of them are people's. */
	counts: Array<{organizationId: string; month: string; clicks: number; people: number}>;
	/** Links with new matches. */
	links: string[];
};

/**
 * Lengths in bytes: rows of `clicks`, rows of `match_clicks` to open, without and with a query, and rows that continue a
 * match.
 */
type Lengths = {clicks: number; opened: number; queried?: number; returning: number};

/** The rows of COPY and their summary. */
export type Section = Summary & Record<keyof Lengths, Buffer>;

const NEWLINE = 10;

/** The payload of a frame: a line of JSON with the summary and the lengths, then the rows. */
export const encodeSection = (entries: readonly Entry[]): string => {
	let [clicks, opened, queried, returning] = ['', '', '', ''];
	const counts = new Map<string, Summary['counts'][number]>();
	const links = new Set<string>();
	const contexts: Summary['contexts'] = {};
	const campaigns: Summary['campaigns'] = {};
	for (const entry of entries) {
		const {organizationId, linkId, month, click, context, campaign, match, part} = entry;
		clicks += click;
		contexts[entry.contextId] = context;
		if (campaign !== '') {
			campaigns[entry.campaignId] = campaign;
		}

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
			if (part === 'returning') {
				returning += match;
			} else if (part === 'queried') {
				queried += match;
			} else {
				opened += match;
			}
		}
	}

	const summary: Summary & Lengths = {
		contexts,
		campaigns,
		clicks: Buffer.byteLength(clicks),
		opened: Buffer.byteLength(opened),
		...(queried === '' ? {} : {queried: Buffer.byteLength(queried)}),
		returning: Buffer.byteLength(returning),
		counts: [...counts.values()],
		links: [...links],
	};
	return `${JSON.stringify(summary)}\n${clicks}${opened}${queried}${returning}`;
};

export const decodeSection = (payload: Buffer): Section => {
	let end = payload.indexOf(NEWLINE) + 1;
	const summary = JSON.parse(payload.toString('utf8', 0, end)) as Summary & Lengths;
	const take = (length = 0): Buffer => {
		end += length;
		return payload.subarray(end - length, end);
	};
	return {
		...summary,
		clicks: take(summary.clicks),
		opened: take(summary.opened),
		queried: take(summary.queried),
		returning: take(summary.returning),
	};
};

export const sectionOf = (entries: readonly Entry[]): Section => decodeSection(Buffer.from(encodeSection(entries)));

/** Splits a payload into single clicks, for when some of them must be left out. */
export const entriesOf = ({clicks, contexts, campaigns, opened, queried, returning}: Section): Entry[] =>
	decodeRows(
		`${clicks}`,
		{contexts, campaigns},
		{opened: `${opened}`, queried: `${queried}`, returning: `${returning}`},
	);
