import {readFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {createMetrics} from '../../../src/platform/metrics/metrics.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {link, organization} from '../../helpers/builders.ts';
import {admin, anonymous, send} from '../../helpers/callers.ts';
import {until} from '../../helpers/redis-server.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test);

/** As Prometheus on this machine asks: without a forwarded address. */
const scrape = async (): Promise<string> => (await send(service.url, 'GET', '/metrics')).text;

/** The value of a series, by its exact name and labels; 0 if it does not exist yet. */
const seriesValue = (text: string, series: string): number =>
	Number(text.split(`\n${series} `)[1]?.split('\n')[0] ?? 0);

/** Asserts how far each of the series moves while `work` is done. */
const moves = async (t: ExecutionContext, expected: Record<string, number>, work: () => Promise<unknown>) => {
	const before = await scrape();
	await work();
	const after = await scrape();
	const moved = ([one]: [string, number]) => [one, seriesValue(after, one) - seriesValue(before, one)];
	t.deepEqual(Object.fromEntries(Object.entries(expected).map(moved)), expected);
};

const namesOf = (text: string): string[] => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);

test('this machine reads the metrics, and so does the operator', async (t) => {
	const near = await send(service.url, 'GET', '/metrics');
	t.like(near, {status: 200, headers: {'content-type': 'text/plain; version=0.0.4; charset=utf-8'}});
	const operator = await admin(service).get('/metrics');
	t.is(operator.status, 200);
	t.regex(operator.text, /^oplink_build_info\{version="[^"]+",node="v\d/m);
});

test('a caller behind a proxy gets 404', async (t) => {
	t.like(await anonymous(service).get('/metrics'), {status: 404, body: {message: 'Not found'}});
	t.is((await anonymous(service).get('/metrics', {Authorization: 'Bearer wrong'})).status, 404);
});

test('every line is one of the text format, and every metric is described once', async (t) => {
	await anonymous(service).post('/match', {});
	const text = await scrape();
	t.true(text.endsWith('\n'));
	const label = '[a-z_]+="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
	const sample = new RegExp(
		`^[a-z_0-9]+(?:\\{${label}(?:,${label})*\\})? (?:-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?|\\+Inf)$`,
	);
	for (const line of text.trimEnd().split('\n')) {
		t.true(/^# (HELP|TYPE) [a-z_0-9]+ ./.test(line) || sample.test(line), line);
	}

	const names = namesOf(text);
	t.deepEqual(names, [...new Set(names)]);
	const series = text.split('\n').flatMap((line) => (line.startsWith('#') ? [] : [line.split(' ')[0]]));
	t.is(series.length, new Set(series).size);
});

test.serial('requests are counted by pattern and never by path', async (t) => {
	const counted = {
		'oplink_http_requests_total{method="GET",route="/links/:id",status="4xx"}': 1,
		'oplink_http_requests_total{method="GET",route="none",status="4xx"}': 1,
		'oplink_http_requests_total{method="other",route="none",status="4xx"}': 1,
		'oplink_http_request_duration_seconds_count{method="GET",route="/links/:id"}': 1,
		'oplink_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/links/:id"}': 1,
	};
	await moves(t, counted, async () => {
		await anonymous(service).get('/links/7c0a0d4e-1111-4222-8333-444455556666');
		await anonymous(service).get('/portal/never-heard-of-it');
		await send(service.url, 'PROPFIND', '/portal/never-heard-of-it', {'X-Forwarded-For': '10.99.0.1'});
	});
	t.notRegex(await scrape(), /7c0a0d4e|never-heard|PROPFIND/);
});

/** The path of a new link. */
const newPath = async () => new URL((await link(await organization(service))).url).pathname;

test.serial('links, clicks and matches are counted by outcome', async (t) => {
	const path = await newPath();
	const outcomes = {
		'oplink_resolutions_total{outcome="page"}': 1,
		'oplink_resolutions_total{outcome="preview"}': 1,
		'oplink_resolutions_total{outcome="data"}': 1,
		'oplink_resolutions_total{outcome="not_found"}': 1,
		'oplink_resolutions_total{outcome="malformed"}': 1,
		'oplink_clicks_recorded_total{visitor="person"}': 2,
		'oplink_clicks_recorded_total{visitor="crawler"}': 1,
		'oplink_matches_total{method="NONE",confidence="none"}': 1,
	};
	await moves(t, outcomes, async () => {
		const visitor = anonymous(service);
		await visitor.get(path);
		await visitor.get(path, {'User-Agent': 'facebookexternalhit/1.1'});
		await visitor.get(`${path}/data`);
		await visitor.get(path.replace(/[^/]+$/, 'nothing'));
		await visitor.get('/abc/nothing');
		await anonymous(service).post('/match', {});
	});
});

test.serial('cache hits and journal drains are counted', async (t) => {
	const path = await newPath();
	const {changes, clickJournal, linkCache} = service.services;
	// Links are cached as long as the feed is alive.
	await until(() => changes.isTrusted());
	const counted = {
		'oplink_link_cache_lookups_total{result="miss"}': 1,
		'oplink_link_cache_lookups_total{result="hit"}': 1,
		oplink_click_journal_drained_total: 2,
		oplink_click_journal_direct_total: 0,
		oplink_click_journal_refused_total: 0,
		oplink_click_journal_lost_total: 0,
	};
	await moves(t, counted, async () => {
		await anonymous(service).get(path);
		await anonymous(service).get(path);
		await clickJournal.flushed();
	});
	const text = await scrape();
	t.is(seriesValue(text, 'oplink_link_cache_trusted'), 1);
	t.true(seriesValue(text, 'oplink_link_cache_entries') > 0);
	t.is(seriesValue(text, 'oplink_link_cache_bytes'), linkCache.figures().bytes);
	t.true(seriesValue(text, 'oplink_link_cache_bytes') > 0);
	t.is(seriesValue(text, 'oplink_click_journal_waiting_bytes'), 0);
	t.is(seriesValue(text, 'oplink_click_journal_oldest_waiting_seconds'), 0);
});

test.serial('refused requests are counted by their limit', async (t) => {
	const {post} = anonymous(service);
	await moves(t, {'oplink_rate_limited_total{limit="match"}': 1}, () =>
		Promise.all(Array.from({length: 31}, () => post('/match', {}))),
	);
});

test('a job without a success reports 0, also while it hangs', async (t) => {
	const metrics = createMetrics(service.clock);
	void metrics.job('hangs', new Promise(() => {}));
	await metrics.job('waits', Promise.resolve('in use'), (result) => result !== 'in use');
	await t.throwsAsync(metrics.job('fails', Promise.reject(new Error('It fails'))));
	const text = await metrics.registry.metrics();
	for (const [task, failures] of Object.entries({hangs: 0, waits: 0, fails: 1})) {
		t.true(text.includes(`oplink_job_last_success_timestamp_seconds{task="${task}"} 0\n`));
		t.true(text.includes(`oplink_job_failures_total{task="${task}"} ${failures}\n`));
	}
});

test('jobs, the database and the process report their state', async (t) => {
	// The first runs begin with the service.
	await service.services.background.settle();
	const text = await scrape();
	const now = service.clock.now().getTime() / 1000;
	const forgotten = ['matches', 'attempts', 'events', 'devices', 'audit', 'deliveries'];
	for (const task of ['roll_up', 'billing', 'drop_clicks', ...forgotten.map((what) => `forget_${what}`)]) {
		t.is(seriesValue(text, `oplink_job_last_success_timestamp_seconds{task="${task}"}`), now, task);
	}

	t.is(seriesValue(text, 'oplink_database_connections_max'), service.services.db.client.pool.max);
	t.true(seriesValue(text, 'process_resident_memory_bytes') > 1e7);
	t.true(seriesValue(text, 'process_start_time_seconds') > 1.7e9);
});

test('the dashboard and the alert rules name metrics that are there, and every metric is shown', async (t) => {
	const text = await scrape();
	const known = new Set(namesOf(text));
	const read = (name: string) => readFileSync(path.join(packageRoot, 'docs/operating', name), 'utf8');
	const named = (source: string) => {
		const found = [...source.matchAll(/\b(?:oplink|process|nodejs)_[a-z0-9_]+\b/g)];
		return new Set(found.map(([name]) => name.replace(/_(bucket|sum|count)$/, '')));
	};
	const dashboard = JSON.parse(read('grafana-dashboard.json')) as {panels: Array<{targets: Array<{expr: string}>}>};
	const shown = named(dashboard.panels.flatMap(({targets}) => targets.map(({expr}) => expr)).join('\n'));
	const alerts = named(read('alerts.yml').replace(/^\s*(#|summary|what_to_do).*$/gm, ''));
	t.deepEqual([...shown].toSorted(), [...known].toSorted());
	t.deepEqual(
		[...alerts].filter((name) => !known.has(name)),
		[],
	);
	for (const [, name, help] of text.matchAll(/^# HELP (\S+) (.*)$/gm)) {
		t.regex(help ?? '', /^\S.{4,}\.$/, name);
	}
});
