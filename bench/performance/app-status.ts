import {setTimeout as delay} from 'node:timers/promises';
import {send} from '../../test/helpers/callers.ts';
import {figure} from './figure.ts';
import {ADMIN_TOKEN, type Installation} from './installation.ts';
import type {Measure} from './stage.ts';
import {quantile} from './statistics.ts';

/** The first opens of 10,000,000 clicks in 30 days: one of three clicks installs the app. The clicks are not read. */
const OPENS = 3_300_000;
const REQUESTS = 30;
const BAR_MS = 300;

/** First opens of 30 days, a third of them with a device, and counts of 90 days by the hour and version. */
const fill = async ({client, organization}: Installation, opens: number): Promise<void> => {
	await client.query('BEGIN');
	await client.query('SET LOCAL session_replication_role = replica');
	await client.query(
		`INSERT INTO devices (id, organization_id, device_id, platform, app_version, sdk_version, first_seen_at, last_seen_at)
		SELECT gen_random_uuid(), CAST($1 AS uuid), 'phone-' || n, (ARRAY['iOS', 'Android'])[1 + n % 2], '4.' || n % 12,
			'oplink-js/1.0.0', now(), now()
		FROM generate_series(1, CAST($2 AS int) / 3) AS n`,
		[organization.id, opens],
	);
	await client.query(
		`INSERT INTO match_attempts (id, at, organization_id, device_id, matched, method, reason, signals, candidates, has_token)
		SELECT gen_random_uuid(), now() - n * (interval '30 days' / CAST($2 AS int)), CAST($1 AS uuid),
			CASE WHEN n % 3 = 0 THEN 'phone-' || n / 3 END, n % 2 = 0, CASE WHEN n % 2 = 0 THEN 'CLIPBOARD' ELSE 'NONE' END,
			CASE WHEN n % 2 = 1 THEN 'no_click' END, json_build_object('platform', (ARRAY['iOS', 'Android'])[1 + n % 2]), '[]',
			n % 2 = 0
		FROM generate_series(1, CAST($2 AS int)) AS n`,
		[organization.id, opens],
	);
	await client.query(
		`INSERT INTO app_counts (organization_id, kind, hour, platform, detail, count, last_at)
		SELECT CAST($1 AS uuid), kind, hour, platform, '4.' || version, 100, hour + interval '59 minutes'
		FROM generate_series(date_trunc('hour', now()) - interval '90 days', now() - interval '1 hour', '1 hour') AS hour,
			unnest(ARRAY['session', 'sdk', 'data', 'event']) AS kind, unnest(ARRAY['ios', 'android']) AS platform,
			generate_series(1, 12) AS version`,
		[organization.id],
	);
	await client.query('COMMIT');
	await client.query('VACUUM ANALYZE devices, match_attempts, app_counts');
};

/** Waits for the hourly job, which counts first opens at the start of a server. */
const countedBy = async ({client}: Installation, opens: number): Promise<void> => {
	const sum = "SELECT coalesce(sum(count), 0)::float8 AS sum FROM app_counts WHERE kind = 'first_open'";
	// Those of the last hours stay rows.
	while ((await client.query(sum)).rows[0].sum < opens * 0.99) {
		await delay(1000);
	}
};

/** `GET …/app-status` of an organization with 10,000,000 clicks, one request after the other. */
export const appStatus: Measure = {
	name: 'app-status',
	measure: async ({installation: open, quick, progress}) => {
		const opens = quick ? OPENS / 100 : OPENS;
		const installation = await open();
		try {
			progress(`app-status: filling ${opens} first opens`);
			await fill(installation, opens);
			const server = await installation.start();
			await countedBy(installation, opens);
			const {orgKey} = installation.organization;
			const times: number[] = [];
			let wrong = 0;
			for (let request = 0; request < REQUESTS; request += 1) {
				const began = performance.now();
				const {status, body} = await send(server.url.href, 'GET', `/admin/organizations/${orgKey}/app-status`, {
					Authorization: `Bearer ${ADMIN_TOKEN}`,
				});
				times.push(performance.now() - began);
				wrong += status === 200 && body.platforms[0].firstOpens.count > 0 ? 0 : 1;
			}

			times.sort((a, b) => a - b);
			return [
				figure({
					name: 'app status at 10,000,000 clicks, p50',
					value: quantile(times, 0.5),
					low: times[0] ?? Number.NaN,
					high: times.at(-1) ?? Number.NaN,
					unit: 'ms',
					bar: {atMost: BAR_MS},
					notes: [`${opens} first opens of 30 days, counts of 90 days in 12 versions; ${REQUESTS} requests`],
					failures: wrong === 0 ? [] : [`${wrong} of ${REQUESTS} answers were wrong`],
				}),
			];
		} finally {
			await installation.close();
		}
	},
};
