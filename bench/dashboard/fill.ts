import {randomUUID} from 'node:crypto';
import type {Db} from '../../src/platform/db/db.ts';

/** `days`: over how many the clicks are spread, up to `until`. */
export type Size = {clicks: number; days: number; links: number; until: Date};

/** How many campaigns and kinds of visitors there are, and how many links have the tag `hundred`. */
const CAMPAIGNS = 1000;
const CONTEXTS = 20_000;
const TAGGED = 100;

/** SQL: the months of the clicks. */
const MONTHS = `(SELECT DISTINCT CAST(date_trunc('month', day, 'UTC') AS date) AS month
	FROM generate_series(CAST(:until AS timestamptz) - CAST(:days AS int) * interval '1 day', :until, '1 day') AS day) AS months`;

/** SQL: a number of a campaign in a month. The ids are only compared. */
const CAMPAIGN_ID = `CAST(extract(epoch FROM month) AS bigint) * ${CAMPAIGNS} + CAST(n AS bigint)`;
const CHANNEL = "(ARRAY['email', 'sms', 'social', 'qr'])[1 + n % 4]";

/** SQL: the square of a random number, so that the first of 2,000 links gets 2 % of the clicks, half of them go to a quarter. */
const link = `CAST(md5(:id || floor(power(random(), 2) * :links)) AS uuid)`;
/** SQL, in the order of time, as they come in: what is near in time is near on the disk. */
const at = (rows: string) => `date_trunc('milliseconds',
		CAST(:until AS timestamptz) - (1 - CAST(n AS float8) / ${rows}) * CAST(:days AS int) * interval '1 day')`;

/**
 * An organization with so many clicks, every tenth a crawler's, spread evenly over the days; a few links get most of
 * them. @returns its id, and that of its busiest link.
 */
export const fillClicks = async (db: Db, {clicks, days, links, until}: Size): Promise<{id: string; linkId: string}> => {
	const id = randomUUID();
	const bindings = {id, clicks, days, links, until, key: id.slice(0, 4)};
	await db.raw(
		`INSERT INTO organizations (id, org_key, name, created_at, updated_at) VALUES (:id, :key, 'Bench ' || :id, now(), now())`,
		bindings,
	);
	await db.raw(
		`INSERT INTO links (id, organization_id, domain_id, short_code, tags, is_active, created_at, updated_at)
		SELECT CAST(md5(:id || n) AS uuid), CAST(:id AS uuid), domains.id, 'bench' || n,
			CASE WHEN n % CAST(:every AS int) = CAST(:every AS int) / 2 THEN ARRAY['hundred'] END, true, now(), now()
		FROM generate_series(0, CAST(:links AS int) - 1) AS n, domains WHERE organization_id IS NULL`,
		{...bindings, every: Math.max(1, Math.round(links / TAGGED))},
	);
	await db.raw(
		`INSERT INTO click_campaigns (id, month, channel, utm_source, utm_medium, utm_campaign)
		SELECT ${CAMPAIGN_ID}, month, ${CHANNEL}, 'source' || n % 5, 'medium' || n % 5, 'campaign' || n
		FROM generate_series(0, ${CAMPAIGNS - 1}) AS n, ${MONTHS} ON CONFLICT DO NOTHING`,
		bindings,
	);
	await db.raw(
		`WITH kinds AS MATERIALIZED (
			SELECT month, kind, keep_click_context(month, (ARRAY['ios', 'ios', 'android', 'android', 'desktop'])[1 + kind % 5],
				(ARRAY['iOS', 'iOS', 'Android', 'Android', 'Windows'])[1 + kind % 5], CAST(kind / 5 % 9 AS text),
				(ARRAY['Safari', 'Chrome', 'Samsung Internet', 'Instagram'])[1 + kind % 4],
				CASE WHEN kind % 3 = 0 THEN 'model' || kind / 3 % 40 END,
				(ARRAY['de-DE', 'en-US', 'ar-EG', 'fr-FR'])[1 + kind / 40 % 4], 'zone' || kind / 160,
				chr(65 + CAST(sqrt(kind % 49) AS int)) || chr(65 + kind / 49 % 7), CASE WHEN kind % 10 = 9 THEN 'preview' END) AS id
			FROM generate_series(0, ${CONTEXTS - 1}) AS kind, ${MONTHS}
		)
		INSERT INTO clicks (id, occurred_at, organization_id, link_id, context_id, campaign_id, referrer_host)
		SELECT gen_random_uuid(), at, CAST(:id AS uuid), ${link}, kinds.id,
			${CAMPAIGN_ID.replace('month', 'kinds.month').replace(/\bn\b/g, 'campaign')},
			CASE WHEN random() < 0.5 THEN 'site' || floor(power(random(), 3) * 300) || '.example' END
		FROM (
			SELECT ${at('CAST(:clicks AS int)')} AS at, CAST(floor(power(random(), 3) * ${CONTEXTS}) AS int) AS kind,
				floor(power(random(), 2) * ${CAMPAIGNS}) AS campaign
			FROM generate_series(1, CAST(:clicks AS int)) AS n
		) AS visits
		JOIN kinds ON kinds.kind = visits.kind AND kinds.month = CAST(date_trunc('month', at, 'UTC') AS date)
		ORDER BY at`,
		bindings,
	);
	const {rows} = await db.raw(`SELECT CAST(md5(CAST(:id AS text) || '0') AS uuid) AS link`, bindings);
	return {id, linkId: rows[0].link};
};

/** The same with a third as many matches and as many events. */
export const fill = async (db: Db, size: Size): Promise<{id: string; linkId: string}> => {
	const filled = await fillClicks(db, size);
	const {clicks, ...others} = size;
	const bindings = {...others, id: filled.id, third: Math.ceil(clicks / 3)};
	await db.raw(
		`INSERT INTO match_attempts (id, at, organization_id, matched, method, link_id, signals, candidates)
		SELECT gen_random_uuid(), ${at('CAST(:third AS int)')}, CAST(:id AS uuid), true,
			(ARRAY['CLIPBOARD', 'INSTALL_REFERRER', 'FINGERPRINT', 'FINGERPRINT_SCORED'])[1 + floor(random() * 4)], ${link},
			'{}', '[]'
		FROM generate_series(1, CAST(:third AS int)) AS n`,
		bindings,
	);
	await db.raw(
		`INSERT INTO events (id, organization_id, device_id, event_name, properties, link_id, occurred_at, received_at)
		SELECT gen_random_uuid(), CAST(:id AS uuid), 'device' || n % 1000, 'purchase', '{"amount": 12}', ${link},
			${at('CAST(:third AS int)')}, now()
		FROM generate_series(1, CAST(:third AS int)) AS n`,
		bindings,
	);
	return filled;
};
