import {randomUUID} from 'node:crypto';
import type {Db} from '../../../src/platform/db/db.ts';
import {type DimensionName, usualDimensions} from '../../../src/visits/clicks/dimensions.ts';
import {insertSharedRows} from '../../../src/visits/clicks/journal/store.ts';
import {campaigns, contexts} from '../../../src/visits/visit/click-context.ts';
import type {TestService} from '../../helpers/service.ts';

type UsualName = 'platform' | 'country' | 'channel' | 'referrer';

/** The fields of a row that a report counts by. */
export type Row = {at: number} & (
	| ({kind: 'click'; link: string; isCrawler: boolean} & {[Name in UsualName]: string | null} & {
			[Name in Exclude<DimensionName, UsualName | 'link' | 'matchMethod' | 'tag'>]?: string | null;
	  })
	| {kind: 'match'; method: string; link: string | null; isMatch: boolean}
	| {kind: 'event'; link: string | null}
);

const time = (row: Row): Date => new Date(row.at);

type ClickRow = Extract<Row, {kind: 'click'}>;

const anyLink = randomUUID();

/** A click at that time, of an iPhone. */
export const clickAt = (time: string | number, more: Partial<ClickRow> = {}): ClickRow => {
	const at = typeof time === 'string' ? Date.parse(time) : time;
	const unknown = {country: null, channel: null, referrer: null};
	return {kind: 'click', at, platform: 'ios', link: anyLink, isCrawler: false, ...unknown, ...more};
};

const wordsOf = (row: ClickRow) => {
	const month = time(row).toISOString().slice(0, 7);
	const {os = null, browser = null, language = null, deviceModel = null, platform, country, isCrawler} = row;
	const {utmSource = null, utmMedium = null, utmCampaign = null, utmContent = null, utmTerm = null, channel} = row;
	const device = {platform, os, osVersion: null, browser, deviceModel, language, timezone: null, country, host: null};
	return {
		context: contexts.identified(month, {...device, botClass: isCrawler ? 'preview' : null}),
		campaign: campaigns.identified(month, {channel, utmSource, utmMedium, utmCampaign, utmContent, utmTerm}),
	};
};

/** Stores rows as the service's own statements would have, at times of the test's choosing. */
export const storeRows = async (
	service: Pick<TestService, 'services'>,
	organizationId: string,
	rows: Row[],
	db: Db = service.services.db,
): Promise<void> => {
	const clicks = rows.filter((row) => row.kind === 'click').map((row) => ({...row, words: wordsOf(row)}));
	for (const row of clicks) {
		await service.services.clickPartitions.ensure(time(row));
	}

	// Outside the transaction: one that a test leaves open must not block others with the same values.
	const kept = service.services.db;
	await insertSharedRows(kept, contexts, [...new Map(clicks.map(({words: {context}}) => [context.id, context.row]))]);
	await insertSharedRows(kept, campaigns, [
		...new Map(clicks.map(({words: {campaign}}) => [campaign.id, campaign.row])),
	]);
	const common = ({link}: Row) => ({id: randomUUID(), organization_id: organizationId, link_id: link});
	await db.batchInsert(
		'clicks',
		clicks.map((row) => ({
			...common(row),
			occurred_at: time(row),
			context_id: row.words.context.id,
			campaign_id: row.words.campaign.id,
			referrer_host: row.referrer,
		})),
	);
	const match = {signals: '{}', candidates: '[]'};
	await db.batchInsert(
		'match_attempts',
		rows
			.filter((row) => row.kind === 'match')
			.map((row) => ({
				...common(row),
				...match,
				at: time(row),
				matched: row.isMatch,
				method: row.isMatch ? row.method : 'NONE',
			})),
	);
	const received_at = service.services.clock.now();
	const event = {device_id: 'device', event_name: 'purchase', properties: '{}', received_at};
	await db.batchInsert(
		'events',
		rows.filter(({kind}) => kind === 'event').map((row) => ({...common(row), ...event, occurred_at: time(row)})),
	);
};

type Report = {from: string; to: string; series: Array<{start: string}>};

const top = (keys: Array<string | null>, most = 20): Array<{key: string | null; count: number}> =>
	[...new Set(keys)]
		.map((key) => ({key, count: keys.filter((one) => one === key).length}))
		.sort((a, b) => b.count - a.count || String(a.key).localeCompare(String(b.key)))
		.slice(0, most);

/**
 * The expected report of those rows, counted one by one. The report defines the starts of its buckets; a row belongs to
 * the last bucket that has begun.
 */
export const countRows = (
	rows: Row[],
	{from, to, series}: Report,
	{by = null, tagsOf = () => []}: {by?: DimensionName[] | null; tagsOf?: (link: string) => string[]} = {},
) => {
	const within = rows.filter(({at}) => at >= Date.parse(from) && at < Date.parse(to));
	const clicks = within.filter((row) => row.kind === 'click');
	const people = clicks.filter(({isCrawler}) => !isCrawler);
	const matches = within.filter((row) => row.kind === 'match').filter(({isMatch}) => isMatch);
	const events = within.filter((row) => row.kind === 'event');
	const keysOf = (name: DimensionName): Array<string | null> => {
		switch (name) {
			case 'matchMethod':
				return matches.map(({method}) => method);
			case 'tag':
				return people.flatMap(({link}) => (tagsOf(link).length === 0 ? [null] : tagsOf(link)));
			default:
				return people.map((row) => row[name] ?? null);
		}
	};
	const starts = series.map(({start}) => Date.parse(start));
	const bucketsOf = (counted: Row[]) => counted.map(({at}) => starts.findLastIndex((start) => start <= at));
	const buckets = {clicks: bucketsOf(people), matches: bucketsOf(matches), events: bucketsOf(events)};
	const countIn = (index: number) =>
		Object.fromEntries(Object.entries(buckets).map(([name, all]) => [name, all.filter((one) => one === index).length]));
	const crawlerViews = clicks.length - people.length;
	return {
		totals: {clicks: people.length, crawlerViews, matches: matches.length, events: events.length},
		series: series.map(({start}, index) => ({start, ...countIn(index)})),
		breakdowns: Object.fromEntries(
			(by ?? usualDimensions).map((name) => [name, top(keysOf(name), by === null ? undefined : 500)]),
		),
	};
};
