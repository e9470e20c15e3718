import {randomUUID} from 'node:crypto';
import {translateViolation} from '../db/db.ts';
import {linkNotFound} from '../errors.ts';
import type {Services} from '../services.ts';
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

const columns = [
	'id',
	'occurred_at',
	'organization_id',
	'link_id',
	'channel',
	'platform',
	'os',
	'os_version',
	'browser',
	'device_model',
	'language',
	'timezone',
	'referrer_host',
	'country',
	'bot_class',
] as const;

/**
 * Stores a click, its open match and the month's count in one statement: when this resolves they survive a crash.
 * @throws 404 where the link has been deleted meanwhile.
 */
export const recordClick = async ({db, clock, clickPartitions, metrics}: Services, click: Click): Promise<void> => {
	const now = clock.now();
	await clickPartitions.ensure(now);
	const id = randomUUID();
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
	const insertClick = `INSERT INTO clicks (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
	if (click.botClass !== null) {
		await db.raw(insertClick, values);
		metrics.click('crawler');
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
	metrics.click('person');
};

/** People's clicks of the organization in the calendar month (UTC) of `now`. */
export const countMonthClicks = async (db: Services['db'], organizationId: string, now: Date): Promise<number> => {
	const [row] = (await db('click_counts').where({
		organization_id: organizationId,
		month: `${now.toISOString().slice(0, 7)}-01`,
	})) as Array<{clicks: string}>;
	return Number(row?.clicks ?? 0);
};
