import test from 'ava';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {runCli} from './_run-cli.ts';

const domain = {
	id: '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11',
	hostname: 'go.acme.example',
	status: 'PENDING',
	isDefault: false,
	verification: {type: 'TXT', name: '_oplink.go.acme.example', value: 'oplink-verification=abc'},
};

test('domains add says which DNS record to set, on stderr', async (t) => {
	const {env, requests} = await startRecordingServer(t, {
		'POST /admin/organizations/Ab12/domains': () => ({status: 201, body: domain}),
	});
	const {exitCode, stdout, stderr} = await runCli(['domains', 'add', 'Ab12', 'go.acme.example', '--json'], {env});
	t.is(exitCode, 0);
	t.deepEqual(requests[0]?.body, {hostname: 'go.acme.example'});
	t.deepEqual(JSON.parse(stdout), domain);
	t.regex(stderr, /_oplink\.go\.acme\.example TXT oplink-verification=abc/);
});

for (const [word, method, suffix] of [
	['verify', 'POST', '/verify'],
	['approve', 'POST', '/approve'],
	['reject', 'POST', '/reject'],
	['remove', 'DELETE', ''],
] as const) {
	test(`domains ${word} takes a hostname as well as an id`, async (t) => {
		const {env, requests} = await startRecordingServer(t, {
			'GET /admin/organizations/Ab12/domains': () => ({body: pageOf([domain], {limit: 100})}),
			[`${method} /admin/organizations/Ab12/domains/${domain.id}${suffix}`]: () => ({body: {...domain, deleted: true}}),
		});
		const yes = word === 'remove' ? ['--yes'] : [];
		t.is((await runCli(['domains', word, 'Ab12', domain.id, ...yes], {env})).exitCode, 0);
		t.is(requests.length, 1);
		t.is((await runCli(['domains', word, 'Ab12', 'GO.acme.example', ...yes], {env})).exitCode, 0);
		t.is(requests.length, 3);
	});
}

test('an unknown hostname ends with 4', async (t) => {
	const {env} = await startRecordingServer(t, {'GET /admin/organizations/Ab12/domains': () => ({body: pageOf([])})});
	const {exitCode, stderr} = await runCli(['domains', 'verify', 'Ab12', 'no.acme.example'], {env});
	t.is(exitCode, 4);
	t.regex(stderr, /no domain 'no.acme.example'/);
});

const stats = {
	from: '2026-03-01T00:00:00.000Z',
	to: '2026-03-03T00:00:00.000Z',
	interval: 'day',
	totals: {clicks: 12, crawlerViews: 1, matches: 2, events: 0},
	series: [
		{start: '2026-03-01T00:00:00.000Z', clicks: 0, matches: 0, events: 0},
		{start: '2026-03-02T00:00:00.000Z', clicks: 12, matches: 2, events: 0},
	],
	breakdowns: {
		platform: [
			{key: 'iOS', count: 9},
			{key: null, count: 3},
		],
		country: [],
	},
};

test('stats prints totals, the busy parts of the series and the breakdowns', async (t) => {
	const {env, requests} = await startRecordingServer(t, {'GET /admin/organizations/Ab12/stats': () => ({body: stats})});
	const argv = [
		'stats',
		'Ab12',
		'--from',
		'2026-03-01',
		'--to',
		'2026-03-03',
		'--interval',
		'day',
		'--timezone',
		'Africa/Cairo',
	];
	const {exitCode, stdout} = await runCli(argv, {env});
	t.is(exitCode, 0);
	t.is(
		requests[0]?.url,
		'/admin/organizations/Ab12/stats?from=2026-03-01&to=2026-03-03&interval=day&timezone=Africa%2FCairo',
	);
	t.regex(stdout, /^clicks {8}12$/m);
	t.regex(stdout, /^2026-03-02T00:00:00.000Z {6}12 {8}2 {7}0$/m);
	t.notRegex(stdout, /^2026-03-01T00:00:00.000Z {3}/m);
	t.regex(stdout, /^platform {2}iOS {8}9$/m);
	t.regex(stdout, /^platform {2}- {10}3$/m);
});

test('stats takes the only organization, and --json prints the answer', async (t) => {
	const {env} = await startRecordingServer(t, {
		'GET /admin/organizations': () => ({body: pageOf([{id: 'only-one'}])}),
		'GET /admin/organizations/only-one/stats': () => ({body: stats}),
	});
	const {stdout} = await runCli(['stats', '--json'], {env});
	t.deepEqual(JSON.parse(stdout), stats);
});
