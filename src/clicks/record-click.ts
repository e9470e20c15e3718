import {createHash, randomUUID} from 'node:crypto';
import {translateViolation} from '../db/db.ts';
import {linkNotFound} from '../errors.ts';
import {randomAlphanumeric} from '../organizations/org-key.ts';
import type {Services} from '../services.ts';

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
	/** The one-time token that the page carries, and how long an app's first open may claim the click with it. */
	match: {token: string; windowHours: number} | null;
};

/** A new match token: `opl_` and 32 of `[A-Za-z0-9]`, 190 bits (decisions 6). */
export const mintMatchToken = (): string => `opl_${randomAlphanumeric(32)}`;

/** What a token is found by. 190 random bits need no salt. */
export const hashMatchToken = (token: string): Buffer => createHash('sha256').update(token).digest();

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
export const recordClick = async ({db, clock, clickPartitions}: Services, click: Click): Promise<void> => {
	const now = clock.now();
	await clickPartitions.ensure(now);
	const values: Array<string | Date | Buffer | null> = [
		randomUUID(),
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
		return;
	}

	const parts = [`click AS (${insertClick})`];
	if (click.match !== null) {
		parts.push(
			`pending AS (INSERT INTO match_clicks (id, organization_id, link_id, token_hash, created_at, expires_at)
				VALUES (?, ?, ?, ?, ?, ?))`,
		);
		const expiresAt = new Date(now.getTime() + click.match.windowHours * 3_600_000);
		values.push(randomUUID(), click.organizationId, click.linkId);
		values.push(hashMatchToken(click.match.token), now, expiresAt);
	}

	await db
		.raw(
			`WITH ${parts.join(', ')}
			INSERT INTO click_counts (organization_id, month, clicks) VALUES (?, ?, 1)
			ON CONFLICT (organization_id, month) DO UPDATE SET clicks = click_counts.clicks + 1`,
			[...values, click.organizationId, `${now.toISOString().slice(0, 7)}-01`],
		)
		.catch((error: unknown) => {
			throw translateViolation(error, {
				match_clicks_link_id_fkey: linkNotFound,
				match_clicks_organization_id_fkey: linkNotFound,
				click_counts_organization_id_fkey: linkNotFound,
			});
		});
};

/** People's clicks of the organization in the calendar month (UTC) of `now`. */
export const countMonthClicks = async (db: Services['db'], organizationId: string, now: Date): Promise<number> => {
	const [row] = (await db('click_counts').where({
		organization_id: organizationId,
		month: `${now.toISOString().slice(0, 7)}-01`,
	})) as Array<{clicks: string}>;
	return Number(row?.clicks ?? 0);
};
