import test from 'ava';
import stringWidth from 'string-width';
import {bar, columnChart, compact, fitted} from '../../src/cli/terminal/charts.ts';
import {startRecordingServer} from './_recording-server.ts';
import {ends, runOnScreen} from './_run-cli.ts';

const linkId = '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11';
const goneId = '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d12';

const stats = {
	from: '2026-03-01T22:00:00.000Z',
	to: '2026-03-04T22:00:00.000Z',
	interval: 'day',
	totals: {clicks: 12, crawlerViews: 1, matches: 2, events: 0},
	series: [
		{start: '2026-03-01T22:00:00.000Z', clicks: 0, matches: 0, events: 0},
		{start: '2026-03-02T22:00:00.000Z', clicks: 8, matches: 2, events: 0},
		{start: '2026-03-03T22:00:00.000Z', clicks: 4, matches: 0, events: 0},
	],
	guesses: [{confidence: 'high', graded: 200, correct: 199}],
	breakdowns: {
		platform: [
			{key: 'ios', count: 9},
			{key: null, count: 3},
		],
		country: [],
		link: [
			{key: linkId, count: 10},
			{key: goneId, count: 2},
		],
	},
};

const path = '/admin/organizations/Ab12';
const answers = {
	[`GET ${path}/stats`]: {body: stats},
	'GET /admin/links': ({url}: {url: string}) => ({
		body: {data: url.endsWith(`id=${linkId}`) ? [{shortCode: 'spring'}] : []},
	}),
};

test('stats prints totals, the days of the timezone with bars as wide as the terminal, and shares', async (t) => {
	const {cli, requests} = await startRecordingServer(t, answers);
	const range = '--from 2026-03-02 --to 2026-03-05 --interval day --timezone Africa/Cairo';
	ends(t, await cli(`stats --org Ab12 ${range}`), 0, {
		stdout: `from          2026-03-01T22:00:00.000Z
to            2026-03-04T22:00:00.000Z
clicks        12
crawlerViews  1
matches       2
events        0

DAY         CLICKS  MATCHES  EVENTS
2026-03-03       8        2       0  ${'█'.repeat(43)}
2026-03-04       4        0       0  ${'█'.repeat(21)}▌

BY        VALUE                                 COUNT
platform  ios                                       9  ${'█'.repeat(20)}
platform  -                                         3  ${'█'.repeat(6)}▋
link      spring                                   10  ${'█'.repeat(20)}
link      ${goneId}      2  ${'█'.repeat(4)}

GUESSES  GRADED   RIGHT
high        200  99.5 %
`,
	});
	const query = 'from=2026-03-02&to=2026-03-05&interval=day&timezone=Africa%2FCairo&guesses=true';
	t.is(requests[0]?.url, `${path}/stats?${query}`);
});

test('without --org the only organization is taken', async (t) => {
	const only = {body: {data: [{id: 'Ab12'}], total: 1, page: 1, limit: 1}};
	const {cli, requests} = await startRecordingServer(t, {...answers, 'GET /admin/organizations': only});
	ends(t, await cli('stats --interval month --json'), 0, {json: stats});
	t.regex(requests.at(-1)?.url ?? '', /^\/admin\/organizations\/Ab12\/stats\?interval=month/);
});

test('bars fit a terminal of any width, and are ASCII on a dumb one', async (t) => {
	const {cli, env} = await startRecordingServer(t, answers);
	for (const columns of [60, 80, 132]) {
		const {stdout} = await runOnScreen('stats --org Ab12', env, columns);
		const days = stdout.split('\n').filter((line) => line.startsWith('2026-'));
		t.is(Math.max(...days.map((line) => stringWidth(line))), columns);
	}

	const {stdout} = await cli('stats --org Ab12', {env: {TERM: 'dumb'}});
	t.regex(stdout, /^2026-03-02 {7}8 {8}2 {7}0 {2}#{43}$/m);
	t.notRegex(stdout, /[▉-▏█]/);
});

test('a long series is drawn, with the first and the last hour below', async (t) => {
	const hours = Array.from({length: 150}, (_, index) => ({
		start: new Date(Date.UTC(2026, 2, 1, index)).toISOString(),
		clicks: index,
		matches: 0,
		events: 0,
	}));
	const body = {...stats, interval: 'hour', series: hours};
	const {cli} = await startRecordingServer(t, {...answers, [`GET ${path}/stats`]: {body}});
	const {stdout} = await cli('stats --org Ab12 --interval hour');
	const lines = stdout.split('\n');
	const title = lines.indexOf('CLICKS BY HOUR, 2 in a column');
	t.is(lines[title + 1], ` 297┤${' '.repeat(66)}▁▂▃▄▅▅▆▇█`);
	t.is(lines[title + 9], `   0└${'─'.repeat(75)}`);
	t.is(lines[title + 10], `     2026-03-01 00:00${' '.repeat(43)}2026-03-07 05:00`);
});

test('--csv prints only the series, for a spreadsheet', async (t) => {
	const {cli, urls} = await startRecordingServer(t, answers);
	ends(t, await cli(`stats --org Ab12 --link ${linkId} --csv`), 0, {
		stdout: `start,clicks,matches,events
2026-03-01T22:00:00.000Z,0,0,0
2026-03-02T22:00:00.000Z,8,2,0
2026-03-03T22:00:00.000Z,4,0,0
`,
	});
	t.deepEqual(urls(), [`${path}/stats?linkId=${linkId}`]);
	ends(t, await cli('stats --org Ab12 --csv --json'), 2, {stderr: /--csv and --json cannot be combined/});
});

test('a name that --by does not know is a usage error that says what was meant, for the report as for the funnel', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	for (const [line, words] of [
		['stats --by nope', /^Error: --by 'nope' is none of platform, /],
		['stats --by country,chanel', /'chanel' is none of .*\. Did you mean channel\?$/m],
		['stats funnel --by os', /^Error: --by 'os' is none of platform, /],
		['links import a.csv --format bitli', /Allowed choices are .*\. Did you mean bitly\?$/m],
		['stats funnel --by utmcampaign', /Did you mean utmCampaign\?$/m],
	] as const) {
		ends(t, await cli(`${line} --org Ab12`), 2, {stderr: words});
	}

	t.deepEqual(requests, []);
});

test('--by prints more of each breakdown, and as CSV every value', async (t) => {
	const named = Array.from({length: 29}, (_, index) => ({key: `campaign ${index}`, count: 100 - index}));
	const utmCampaign = [...named, {key: '=HYPERLINK("https://evil.example")', count: 1}];
	const breakdowns = {utmCampaign, link: stats.breakdowns.link};
	const {cli, requests} = await startRecordingServer(t, {
		...answers,
		[`GET ${path}/stats`]: {body: {...stats, guesses: undefined, breakdowns}},
	});
	const by = ['stats', '--org', 'Ab12', '--by', 'utmCampaign,link', '--tag', 'spring', '--channel', 'email'];
	const {stdout} = await cli(by);
	t.is(requests[0]?.url, `${path}/stats?by=utmCampaign%2Clink&tag=spring&channel=email`);
	t.is(stdout.match(/^utmCampaign /gm)?.length, 20);
	t.regex(stdout, /^link +spring +10/m);
	const csv = await cli([...by, '--csv']);
	const lines = csv.stdout.trimEnd().split('\n');
	t.is(lines.length, 1 + 30 + 2);
	t.deepEqual(lines.slice(0, 2), ['by,value,count', 'utmCampaign,campaign 0,100']);
	t.is(lines[30], `utmCampaign,"'=HYPERLINK(""https://evil.example"")",1`);
	t.is((await cli([...by, '--spreadsheet'])).stdout, csv.stdout);
	const raw = await cli([...by, '--csv', '--no-spreadsheet']);
	t.is(raw.stdout.split('\n')[30], `utmCampaign,"=HYPERLINK(""https://evil.example"")",1`);
});

const funnel = {
	from: '2026-03-01T00:00:00.000Z',
	to: '2026-03-31T00:00:00.000Z',
	by: 'utmCampaign',
	event: 'purchase',
	property: 'amount',
	totals: {clicks: 1200, matches: 310, devices: 41, events: 55, sum: 1234.5},
	rows: [
		{key: 'spring', clicks: 900, matches: 300, devices: 40, events: 54, sum: 1222},
		{key: null, clicks: 300, matches: 10, devices: 1, events: 1, sum: 12.5},
	],
};

test('stats funnel draws a table at 80 columns, and prints CSV', async (t) => {
	const {cli, env, requests} = await startRecordingServer(t, {[`GET ${path}/stats/funnel`]: {body: funnel}});
	const line = 'stats funnel Ab12 --by utmCampaign --event purchase --property amount';
	ends(t, await runOnScreen(line, env), 0, {
		stdout: `from  2026-03-01T00:00:00.000Z
to    2026-03-31T00:00:00.000Z

UTMCAMPAIGN  CLICKS  MATCHES  DEVICES  EVENTS     SUM
all            1200      310       41      55  1234.5
spring          900      300       40      54    1222  █████████████
-               300       10        1       1    12.5  ████▍
`,
	});
	t.is(requests[0]?.url, `${path}/stats/funnel?by=utmCampaign&event=purchase&property=amount`);
	const csv = await cli(`${line} --csv`);
	t.is(csv.stdout, 'key,clicks,matches,devices,events,sum\nspring,900,300,40,54,1222\n,300,10,1,1,12.5\n');
	t.is((await cli(`${line} --csv --json`)).exitCode, 2);
});

test('reports say since when their breakdowns are, and have no link to name for other', async (t) => {
	const breakdownsSince = '2026-03-03T00:00:00.000Z';
	const link = [...stats.breakdowns.link, {key: 'other', count: 1}];
	const {cli, urls} = await startRecordingServer(t, {
		...answers,
		[`GET ${path}/stats`]: {body: {...stats, breakdowns: {link}, breakdownsSince}},
		[`GET ${path}/stats/funnel`]: {body: {...funnel, breakdownsSince}},
	});
	const {stdout} = await cli('stats --org Ab12 --by link --tag spring');
	t.regex(stdout, /^breakdowns since +2026-03-03T00:00:00.000Z$/m);
	t.regex(stdout, /^link +other +1/m);
	t.false(urls().some((url) => url.endsWith('id=other')));
	t.regex((await cli('stats funnel Ab12 --by utmCampaign')).stdout, /^breakdowns since +2026-03-03T00:00:00.000Z$/m);
});

test('without any click there are totals and no chart', async (t) => {
	const quiet = {...stats, series: stats.series.map((part) => ({...part, clicks: 0, matches: 0})), breakdowns: {}};
	const {cli} = await startRecordingServer(t, {...answers, [`GET ${path}/stats`]: {body: quiet}});
	const {stdout} = await cli('stats --org Ab12');
	t.notRegex(stdout, /DAY/);
});

test('a bar is drawn in eighths, and any value above 0 is visible', (t) => {
	t.is(bar(8, 8, 4, 'blocks'), '████');
	t.is(bar(5, 8, 4, 'blocks'), '██▌');
	t.is(bar(1, 100_000, 4, 'blocks'), '▏');
	t.is(bar(1, 100_000, 4, 'ascii'), '#');
	t.is(bar(0, 8, 4, 'blocks'), '');
	t.is(bar(0, 0, 4, 'blocks'), '');
});

test('columns have an axis and are two characters wide if they fit; otherwise neighbours are added up', (t) => {
	const look = {width: 20, height: 2, from: 'a', to: 'z'};
	t.deepEqual(columnChart([0, 1, 4, 8, 2], {...look, ink: 'blocks'}), [
		'   8┤         ███   ',
		'    │   ▂▂▂██████▄▄▄',
		'   0└───────────────',
		'     a             z',
	]);
	t.deepEqual(columnChart([0, 1, 4, 8, 2], {...look, ink: 'ascii'}), [
		'   8+         ###   ',
		'    |   ...######::: '.trimEnd(),
		'   0+---------------',
		'     a             z',
	]);
	t.deepEqual(fitted([1, 2, 3, 4, 5], 3), {values: [3, 7, 5], each: 2});
	t.deepEqual(fitted([1, 2, 3], 3), {values: [1, 2, 3], each: 1});
});

test('counts take at most four characters', (t) => {
	const counts = [0, 0.44, 3.3, 999, 1000, 9999, 12_345, 999_999, 1_000_000, 2.5e9];
	t.deepEqual(counts.map(compact), ['0', '0.4', '3.3', '999', '1k', '9.9k', '12k', '999k', '1M', '2.5G']);
});
