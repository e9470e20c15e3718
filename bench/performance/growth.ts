import {type Figure, figure} from './figure.ts';
import {type Installation, pathOf, type Sample, type Server, visits, warm} from './installation.ts';
import {visit} from './requests.ts';
import type {Measure, Stage} from './stage.ts';
import {inTurns, median, ratioOf} from './statistics.ts';

const HOT_LINKS = 1000;
const CONNECTIONS = 64;

type Side = {installation: Installation; server: Server};

const serve = async (installation: Installation): Promise<Side> => {
	const server = await installation.start();
	await warm(installation, server, HOT_LINKS);
	return {installation, server};
};

/** Pages of the hot links on both sides, in turns: what each takes of the processor. */
const compare = async ({rounds, seconds}: Stage, sides: Record<string, Side>) => {
	const run =
		({installation, server}: Side) =>
		async () => {
			const sample = await installation.measure([server], {
				connections: CONNECTIONS,
				seconds,
				request: visits(installation, HOT_LINKS),
			});
			installation.expect(sample.answered - sample.bad);
			return sample;
		};
	const samples = await inTurns<Sample>(
		rounds,
		Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, run(side)])),
	);
	return (name: string) => samples(name).map(({cpu}) => cpu);
};

const close = async (sides: Side[]): Promise<string[]> => {
	const failures: string[] = [];
	for (const {installation} of sides) {
		failures.push(...(await installation.failures()));
		await installation.close();
	}

	return failures;
};

const line = (cpu: number[], what: string): string => `${median(cpu).toFixed(1)} µs of CPU a page ${what}`;

const byLinks = async (stage: Stage): Promise<Figure[]> => {
	const many = stage.quick ? 100_000 : 10_000_000;
	const few = await serve(await stage.installation({links: HOT_LINKS}));
	stage.progress(`growth: filling ${many} links`);
	const full = await serve(await stage.installation({links: many}));
	const cpu = await compare(stage, {few, full});

	// Each of these links for the first time, so that it comes from the database.
	const {installation, server} = full;
	const most = stage.quick ? 2000 : 20_000;
	const cold = await installation.measure([server], {
		connections: CONNECTIONS,
		seconds: 600,
		most,
		request: (url) => (n) => visit(url, pathOf(installation, HOT_LINKS + 1 + n * 4), n),
	});
	installation.expect(cold.answered - cold.bad);
	const failures = await close([few, full]);
	return [
		figure({
			name: `CPU of a page at ${many.toLocaleString('en')} links ÷ at 1,000, hot links`,
			...ratioOf(cpu('full'), cpu('few')),
			bar: {atMost: 1.03},
			notes: [line(cpu('few'), 'at 1,000'), line(cpu('full'), `at ${many.toLocaleString('en')}`)],
			failures,
		}),
		figure({
			name: 'CPU of a page whose link is not in memory ÷ is',
			...ratioOf([cold.cpu], [median(cpu('full'))]),
			notes: [`${most} links, each once: ${cold.cpu.toFixed(0)} µs, ${Math.round(cold.rate)}/s`],
		}),
	];
};

/** Clicks from the beginning of this month until now, their ids in the order of time as those of real ones. */
const fillClicks = async ({client, organization}: Installation, count: number): Promise<void> => {
	const {rows} = await client.query(
		`SELECT to_char(month, 'YYYY_MM') AS name, month, month + interval '1 month' AS next
		FROM date_trunc('month', now(), 'UTC') AS month`,
	);
	const [{name, month, next}] = rows;
	await client.query(
		`CREATE TABLE IF NOT EXISTS clicks_${name} PARTITION OF clicks (PRIMARY KEY (id))
		FOR VALUES FROM ('${month.toISOString()}') TO ('${next.toISOString()}')`,
	);
	await client.query(
		`INSERT INTO clicks (id, occurred_at, organization_id, link_id, context_id)
		SELECT
			CAST(lpad(to_hex(CAST(extract(epoch FROM at) * 1000 AS bigint)), 12, '0') || substr(md5('c' || n), 13) AS uuid),
			at, CAST($1 AS uuid), CAST(md5('l' || n % ${HOT_LINKS}) AS uuid), context_id
		FROM keep_click_context(now(), 'ios', 'iOS', '17.5.1', 'Safari', 'iPhone', 'en-US', NULL, NULL, NULL) AS context_id, (
			SELECT n, now() - (1 - CAST(n AS float8) / CAST($2 AS int)) * (now() - CAST($3 AS timestamptz)) AS at
			FROM generate_series(1, CAST($2 AS int)) AS n
		) AS moments`,
		[organization.id, count, month],
	);
	await client.query('INSERT INTO click_counts (organization_id, month, clicks) VALUES ($1, $2, $3)', [
		organization.id,
		month,
		count,
	]);
	await client.query('VACUUM ANALYZE clicks');
};

const byClicks = async (stage: Stage): Promise<Figure[]> => {
	const many = stage.quick ? 100_000 : 10_000_000;
	const none = await serve(await stage.installation({links: HOT_LINKS}));
	const filled = await stage.installation({links: HOT_LINKS});
	stage.progress(`growth: filling ${many} clicks`);
	await fillClicks(filled, many);
	filled.expect(many);
	const full = await serve(filled);
	const cpu = await compare(stage, {none, full});
	const failures = await close([none, full]);
	return [
		figure({
			name: `CPU of a page after ${many.toLocaleString('en')} clicks ÷ after none`,
			...ratioOf(cpu('full'), cpu('none')),
			bar: {atMost: 1.03},
			notes: [line(cpu('none'), 'after none'), line(cpu('full'), `after ${many.toLocaleString('en')}`)],
			failures,
		}),
	];
};

/** What a page costs where there are many links, and where there were many clicks. */
export const growthByLinks: Measure = {name: 'links', measure: byLinks};
export const growthByClicks: Measure = {name: 'clicks', measure: byClicks};
