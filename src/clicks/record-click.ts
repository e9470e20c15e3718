import {randomUUID} from 'node:crypto';
import {translateViolation} from '../db/db.ts';
import {linkNotFound} from '../errors.ts';
import type {Services} from '../services.ts';
import type {ClickJournal} from './journal/click-journal.ts';
import {clickColumns} from './journal/entry.ts';
import {type OpenMatch, openMatchParts} from './open-match.ts';

/** A visit of a link: by a person, or by a crawler, which counts against no quota and in no click figure. */
export type Click = {
	organizationId: string;
	linkId: string;
	channel: string | null;
	platform: string | null;
	os: string | null;
	osVersion: string | null;
	browser: string | null;
	deviceModel: string | null;
	language: string | null;
	timezone: string | null;
	referrerHost: string | null;
	country: string | null;
	botClass: string | null;
	/** What an app's first open may claim the click with; null where the link is not deferred. */
	match: OpenMatch | null;
};

/**
 * Stores a click, its open match and the month's count in one statement: where the journal cannot be used.
 * @throws 404 where the link has been deleted meanwhile.
 */
export const recordClick = async (
	{db, clickPartitions}: Pick<Services, 'db' | 'clickPartitions'>,
	click: Click,
	{id, at: now}: {id: string; at: Date},
): Promise<void> => {
	await clickPartitions.ensure(now);
	const values = [
		id,
		now,
		click.organizationId,
		click.linkId,
		click.channel,
		click.platform,
		click.os,
		click.osVersion,
		click.browser,
		click.deviceModel,
		click.language,
		click.timezone,
		click.referrerHost,
		click.country,
		click.botClass,
	];
	const insertClick = `INSERT INTO clicks (${clickColumns.join(', ')}) VALUES (${clickColumns.map(() => '?').join(', ')})`;
	if (click.botClass !== null) {
		await db.raw(insertClick, values);
		return;
	}

	const {organizationId, linkId, match} = click;
	const parts = [
		{name: 'click', sql: insertClick, bindings: values},
		...(match === null ? [] : openMatchParts(match, {id, organizationId, linkId, at: now})),
	];
	await db
		.raw(
			`WITH ${parts.map(({name, sql}) => `${name} AS (${sql})`).join(', ')}
			INSERT INTO click_counts (organization_id, month, clicks) VALUES (?, ?, 1)
			ON CONFLICT (organization_id, month) DO UPDATE SET clicks = click_counts.clicks + 1`,
			[...parts.flatMap(({bindings}) => bindings), organizationId, `${now.toISOString().slice(0, 7)}-01`],
		)
		.catch((error: unknown) => {
			throw translateViolation(error, {
				match_clicks_link_id_fkey: linkNotFound,
				click_counts_organization_id_fkey: linkNotFound,
			});
		});
};

/** A stand-in for the journal that writes clicks where they belong at once, such as into a transaction. */
export const directly = (services: Pick<Services, 'db' | 'clickPartitions' | 'clock'>): ClickJournal => ({
	record: async (click) => {
		await recordClick(services, click, {id: randomUUID(), at: services.clock.now()});
		return true;
	},
	settled: async () => {},
	start: async () => {},
	figures: () => ({waitingBytes: 0, oldestSeconds: 0, drained: 0, direct: 0, lost: 0, refused: 0}),
	close: async () => {},
});

/** People's clicks of the organization in the calendar month (UTC) of `now`. */
export const countMonthClicks = async (db: Services['db'], organizationId: string, now: Date): Promise<number> => {
	const [row] = (await db('click_counts').where({
		organization_id: organizationId,
		month: `${now.toISOString().slice(0, 7)}-01`,
	})) as Array<{clicks: string}>;
	return Number(row?.clicks ?? 0);
};
