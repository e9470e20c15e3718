import {randomUUID} from 'node:crypto';
import type {Db} from '../../../src/platform/db/db.ts';
import type {TestService} from '../../helpers/service.ts';

/** The fields of a row that a report counts by. */
export type Row = {at: number} & (
	| {
			kind: 'click';
			platform: string | null;
			country: string | null;
			channel: string | null;
			referrer: string | null;
			link: string;
			isCrawler: boolean;
	  }
	| {kind: 'match'; method: string; link: string | null; isMatch: boolean}
	| {kind: 'event'; link: string | null}
);

const time = (row: Row): Date => new Date(row.at);

type ClickRow = Extract<Row, {kind: 'click'}>;

const wordsOf = (row: ClickRow) => [
	`${time(row).toISOString().slice(0, 7)}-01`,
	row.platform,
	row.country,
	row.isCrawler ? 'preview' : null,
];

/**
 * Ids of contexts, stored in separate transactions: one that a test leaves open must not block others with the same
 * context.
 */
const keepContexts = async (db: Db, rows: ClickRow[]): Promise<Map<string, string>> => {
	const contexts = new Map(rows.map((row) => [wordsOf(row).join(), {words: wordsOf(row), id: ''}]));
	for (const context of contexts.values()) {
		const {rows: kept} = await db.raw(
			`SELECT keep_click_context(CAST(? AS date) AT TIME ZONE 'UTC', ?, NULL, NULL, NULL, NULL, NULL, NULL, ?, ?) AS id`,
			context.words,
		);
		context.id = kept[0].id;
	}

	return new Map([...contexts].map(([words, {id}]) => [words, id]));
};

/** Stores rows as the service's own statements would have, at times of the test's choosing. */
export const storeRows = async (
	service: Pick<TestService, 'services'>,
	organizationId: string,
	rows: Row[],
	db: Db = service.services.db,
): Promise<void> => {
	const clicks = rows.filter((row) => row.kind === 'click');
	for (const row of clicks) {
		await service.services.clickPartitions.ensure(time(row));
	}

	const contexts = await keepContexts(service.services.db, clicks);
	await db.batchInsert(
		'clicks',
		clicks.map((row) => ({
			id: randomUUID(),
			occurred_at: time(row),
			organization_id: organizationId,
			link_id: row.link,
			channel: row.channel,
			referrer_host: row.referrer,
			context_id: contexts.get(wordsOf(row).join()),
		})),
	);
	await db.batchInsert(
		'match_attempts',
		rows.flatMap((row) =>
			row.kind === 'match'
				? {
						id: randomUUID(),
						at: time(row),
						organization_id: organizationId,
						matched: row.isMatch,
						method: row.isMatch ? row.method : 'NONE',
						link_id: row.link,
						signals: '{}',
						candidates: '[]',
					}
				: [],
		),
	);
	await db.batchInsert(
		'events',
		rows.flatMap((row) =>
			row.kind === 'event'
				? {
						id: randomUUID(),
						organization_id: organizationId,
						device_id: 'device',
						event_name: 'purchase',
						properties: '{}',
						link_id: row.link,
						occurred_at: time(row),
						received_at: service.services.clock.now(),
					}
				: [],
		),
	);
};

type Report = {from: string; to: string; series: Array<{start: string}>};

const top = (keys: Array<string | null>): Array<{key: string | null; count: number}> => {
	const counts = new Map<string | null, number>();
	for (const key of keys) {
		counts.set(key, (counts.get(key) ?? 0) + 1);
	}

	return [...counts]
		.map(([key, count]) => ({key, count}))
		.sort((a, b) => b.count - a.count || String(a.key).localeCompare(String(b.key)))
		.slice(0, 20);
};

/**
 * The expected report of those rows, counted one by one. The report defines the starts of its buckets; a row belongs to
 * the last bucket that has begun.
 */
export const countRows = (rows: Row[], {from, to, series}: Report) => {
	const within = rows.filter(({at}) => at >= Date.parse(from) && at < Date.parse(to));
	const clicks = within.filter((row) => row.kind === 'click');
	const people = clicks.filter(({isCrawler}) => !isCrawler);
	const matches = within.filter((row) => row.kind === 'match').filter(({isMatch}) => isMatch);
	const events = within.filter((row) => row.kind === 'event');
	const starts = series.map(({start}) => Date.parse(start));
	const parts = series.map(({start}) => ({start, clicks: 0, matches: 0, events: 0}));
	const count = (counted: Row[], name: 'clicks' | 'matches' | 'events') => {
		for (const {at} of counted) {
			const part = parts[starts.findLastIndex((start) => start <= at)];
			if (part !== undefined) {
				part[name] += 1;
			}
		}
	};
	count(people, 'clicks');
	count(matches, 'matches');
	count(events, 'events');
	return {
		totals: {
			clicks: people.length,
			crawlerViews: clicks.length - people.length,
			matches: matches.length,
			events: events.length,
		},
		series: parts,
		breakdowns: {
			platform: top(people.map(({platform}) => platform)),
			country: top(people.map(({country}) => country)),
			channel: top(people.map(({channel}) => channel)),
			referrer: top(people.map(({referrer}) => referrer)),
			link: top(people.map(({link}) => link)),
			matchMethod: top(matches.map(({method}) => method)),
		},
	};
};
