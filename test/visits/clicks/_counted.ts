import {randomUUID} from 'node:crypto';
import type {ExecutionContext} from 'ava';
import type {Db} from '../../../src/platform/db/db.ts';
import {campaigns, contexts} from '../../../src/visits/clicks/click-context.ts';
import {type DimensionName, usualDimensions} from '../../../src/visits/clicks/dimensions.ts';
import {keepWords} from '../../../src/visits/clicks/keep-words.ts';
import {rollUp} from '../../../src/visits/clicks/rollups/roll-up.ts';
import {organization} from '../../helpers/builders.ts';
import type {TestService} from '../../helpers/service.ts';
import {ownService} from '../_own.ts';

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

/** A service of the test's own, because rollups are the whole database's, and an organization. */
export const withRollups = async (t: ExecutionContext) => {
	const service = await ownService(t);
	const {db, background} = service.services;
	// The job that runs at the start has the lock for a moment.
	await background.settle();
	await rollUp(db);
	return {service, db, acme: await organization(service)};
};

const wordsOf = (row: ClickRow) => {
	const month = time(row).toISOString().slice(0, 7);
	const {os = null, browser = null, language = null, deviceModel = null, platform, country, isCrawler} = row;
	const {utmSource = null, utmMedium = null, utmCampaign = null, utmContent = null, utmTerm = null, channel} = row;
	const device = {platform, os, osVersion: null, browser, deviceModel, language, timezone: null, country};
	return {
		context: contexts.kept(month, {...device, botClass: isCrawler ? 'preview' : null}),
		campaign: campaigns.kept(month, {channel, utmSource, utmMedium, utmCampaign, utmContent, utmTerm}),
	};
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

	const words = clicks.map(wordsOf);
	// Outside the transaction: one that a test leaves open must not block others with the same values.
	await keepWords(service.services.db, contexts, [...new Map(words.map(({context: {id, row}}) => [id, row]))]);
	await keepWords(service.services.db, campaigns, [...new Map(words.map(({campaign: {id, row}}) => [id, row]))]);
	const common = ({link}: Row) => ({id: randomUUID(), organization_id: organizationId, link_id: link});
	await db.batchInsert(
		'clicks',
		clicks.map((row, index) => ({
			...common(row),
			occurred_at: time(row),
			context_id: words[index]?.context.id,
			campaign_id: words[index]?.campaign.id,
			referrer_host: row.referrer,
		})),
	);
	const matches = rows.filter((row) => row.kind === 'match');
	await db.batchInsert(
		'match_attempts',
		matches.map((row) => ({
			...common(row),
			at: time(row),
			matched: row.isMatch,
			method: row.isMatch ? row.method : 'NONE',
			signals: '{}',
			candidates: '[]',
		})),
	);
	const event = {
		device_id: 'device',
		event_name: 'purchase',
		properties: '{}',
		received_at: service.services.clock.now(),
	};
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
		if (name === 'matchMethod') {
			return matches.map(({method}) => method);
		}

		if (name === 'tag') {
			return people.flatMap(({link}) => (tagsOf(link).length === 0 ? [null] : tagsOf(link)));
		}

		return people.map((row) => row[name] ?? null);
	};
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
	const crawlerViews = clicks.length - people.length;
	return {
		totals: {clicks: people.length, crawlerViews, matches: matches.length, events: events.length},
		series: parts,
		breakdowns: Object.fromEntries(
			(by ?? usualDimensions).map((name) => [name, top(keysOf(name), by === null ? undefined : 500)]),
		),
	};
};
