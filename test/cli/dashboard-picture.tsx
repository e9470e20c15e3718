import type {ServerResponse} from 'node:http';
import test from 'ava';
import stringWidth from 'string-width';
import {createFigures, createIntake, type LiveEvent, type RecentAnswer} from '../../src/cli/dashboard/figures.ts';
import {readEvents, type ServerSentEvent} from '../../src/cli/dashboard/follow.ts';
import {createPainter, type Size} from '../../src/cli/dashboard/live-screen.ts';
import {pictureOf} from '../../src/cli/dashboard/run-dashboard.tsx';
import type {View} from '../../src/cli/dashboard/view.ts';
import type {Ink} from '../../src/cli/terminal/charts.ts';
import {collect, inPieces} from './_pieces.ts';
import {hasPty, runOnTerminal} from './_pty.ts';
import {startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';

const acme = {id: 'a3533b5c-067c-4cf0-bb33-ab5380975f70', orgKey: 'Ab12', name: 'Acme'};

const status = {
	status: 'ok',
	version: '1.2.3',
	uptimeSeconds: 7300,
	checks: {database: 'ok', migrations: 'ok', redis: 'ok'},
	database: {mode: 'external', version: '16.4'},
};

const link = (id: string, shortCode: string, title: string | null) => ({id, shortCode, title});
const spring = link('link-1', 'spring', 'Spring sale');
const wide = link('link-2', 'ja', '春のセール 全品半額、今週末まで限定のお知らせ');
const family = link('link-3', 'fire', '👩‍👩‍👧 Hot\u001B[31m deals');

const eventOf = (type: LiveEvent['type'], id: string, at: string, more: object): LiveEvent =>
	({type, data: {id, at, organization: acme, ...more}}) as LiveEvent;

const clickOf = (id: string, at: string, more: object = {}): LiveEvent =>
	eventOf('click', id, at, {link: spring, platform: 'ios', browser: 'Safari', country: 'DE', botClass: null, ...more});

const matched = {link: spring, matched: true, method: 'CLIPBOARD', confidence: 'exact', score: 100, reason: null};
const missed = {link: null, matched: false, method: 'NONE', confidence: null, score: null, reason: 'no_click'};

/** The last hour of a server at 12:00:05 UTC. */
const recent: RecentAnswer = {
	at: '2026-03-10T12:00:05.000Z',
	perSecond: Array.from({length: 60}, (_, index) => index % 10),
	perMinute: Array.from({length: 60}, (_, index) => index * 20),
	crawlerViews: 3,
	events: 7,
	links: [
		{organization: acme, link: spring, count: 12_345},
		{organization: acme, link: wide, count: 800},
		{organization: acme, link: family, count: 12},
		{organization: acme, link: link('link-4', 'plain', null), count: 1},
	],
	platforms: [
		{key: 'ios', count: 9000},
		{key: 'android', count: 4000},
		{key: null, count: 158},
	],
	matches: [
		{key: 'CLIPBOARD', count: 40},
		{key: 'NONE', count: 4},
	],
	latest: [
		clickOf('c1', '2026-03-10T12:00:04.000Z'),
		clickOf('c2', '2026-03-10T12:00:03.000Z', {link: wide, platform: 'android', browser: 'Chrome', country: null}),
		clickOf('c3', '2026-03-10T12:00:03.000Z', {botClass: 'preview-crawler'}),
		eventOf('match', 'm1', '2026-03-10T12:00:02.000Z', matched),
		eventOf('match', 'm2', '2026-03-10T12:00:01.000Z', missed),
		eventOf('event', 'e1', '2026-03-10T11:59:00.000Z', {link: null, eventName: 'purchase', deviceId: 'd'}),
	],
};

const viewOf = (more: Partial<View> = {}): View => {
	const figures = createFigures(() => 0);
	figures.begin(recent);
	return {
		server: 'https://links.example.com',
		scope: 'Acme (Ab12)',
		figures: figures.read(),
		status,
		link: {state: 'live'},
		timezone: 'UTC',
		...more,
	};
};

const picture = (size: Size, more: Partial<View> = {}, ink: Ink = 'blocks'): string[] =>
	pictureOf(viewOf(more), {isStyled: false, ink}, size).split('\n');

test('before the server has told its time the screen shows none', (t) => {
	const figures = createFigures(() => 1234).read();
	const lines = picture({columns: 80, rows: 24}, {figures, link: {state: 'connecting'}});
	t.regex(lines[0] ?? '', / ○ connecting --:--:--$/);
	t.regex(lines.join('\n'), /TOP LINKS since --:--/);
	t.notRegex(lines.slice(2).join('\n'), /\d\d:\d\d/);
});

test('the picture at 80 by 24', (t) => {
	t.deepEqual(
		picture({columns: 80, rows: 24}),
		`
 Acme (Ab12)  https://links.example.com                         ● live 12:00:05
 ok: database, migrations, redis           Oplink 1.2.3, up 2h, PostgreSQL 16.4

 CLICKS PER SECOND 4.5 now               CLICKS PER MINUTE 261 in the last 60s
    9┤ ▁▄█       ▁▄█       ▁▄█       ▁▄  1.1k┤                   ▁▁▂▃▃▄▄▅▅▆▆▇▇█
     │▅███     ▂▅███     ▂▅███     ▂▅██      │    ▁▁▂▂▃▄▄▅▅▆▆▇▇████████████████
     │████   ▃▆█████   ▃▆█████   ▃▆████      │▇▇███████████████████████████████
     │████ ▄▇███████ ▄▇███████ ▄▇██████      │█████████████████████████████████
    0└─────────────────────────────────     0└─────────────────────────────────
      -33s                          now       11:28                       12:00

 TOP LINKS since 11:01                   PLATFORMS           MATCHES
 Spring sale (Ab12/sp…  12k ███████████  ios             9k  clipboard       40
 春のセール 全品半額、… 800 ▊            android         4k  no match         4
 👩‍👩‍👧 Hot [31m deals (A…   12 ▏            unknown        158
 Ab12/plain               1 ▏


 LAST EVENTS
 12:00:04  click    Spring sale (Ab12/spring)        ios · Safari · DE
 12:00:03  click    春のセール 全品半額、今週末まで… android · Chrome
 12:00:03  crawler  Spring sale (Ab12/spring)        preview-crawler
 12:00:02  match    Spring sale (Ab12/spring)        clipboard · exact
 q quits`
			.split('\n')
			.slice(1),
	);
});

test('120 by 40 shows more of everything', (t) => {
	const lines = picture({columns: 120, rows: 40});
	t.is(lines.length, 40);
	const at = (text: string) => lines.findIndex((line) => line.includes(text));
	t.is(at('CLICKS PER SECOND'), 3);
	t.is(
		lines[4],
		'    9┤   █         █         █         █         █           1.1k┤                                              ▁▂▃▄▆▇█',
	);
	t.is(at('-53s'), 14);
	t.is(
		lines[at('TOP LINKS') + 1],
		` Spring sale (Ab12/spring)             12k ${'█'.repeat(18)}  ios                      9k  clipboard                40`,
	);
	t.deepEqual(lines.slice(at('LAST EVENTS') + 1, at('LAST EVENTS') + 7), [
		' 12:00:04  click    Spring sale (Ab12/spring)                                   ios · Safari · DE',
		' 12:00:03  click    春のセール 全品半額、今週末まで限定のお知らせ (Ab12/ja)     android · Chrome',
		' 12:00:03  crawler  Spring sale (Ab12/spring)                                   preview-crawler',
		' 12:00:02  match    Spring sale (Ab12/spring)                                   clipboard · exact',
		' 12:00:01  miss     Ab12                                                        no click',
		' 11:59:00  event    Ab12                                                        purchase',
	]);
	t.is(lines[39], ' q quits');
});

test('no size makes a line too long or a screen too high', (t) => {
	for (let columns = 20; columns <= 200; columns += 36) {
		for (const rows of [5, 18, 24, 60]) {
			const lines = picture({columns, rows});
			t.true(lines.length <= rows, `${columns}x${rows}`);
			t.true(Math.max(...lines.map((line) => stringWidth(line))) <= columns, `${columns}x${rows}`);
		}
	}
});

test('a lost connection, failing parts and lost events are shown in the first lines and the last', (t) => {
	const link = {state: 'waiting', seconds: 4, reason: 'connect ECONNREFUSED 127.0.0.1:3000'} as const;
	const away = picture({columns: 80, rows: 24}, {link, status: null});
	t.is(away[0], ' Acme (Ab12)  https://links.example.com            ○ away, again in 4s 12:00:05');
	t.is(away[1], ' The server does not report its status');
	t.is(away[23], ' q quits   connect ECONNREFUSED 127.0.0.1:3000');

	const sick = {...status, checks: {...status.checks, redis: 'unavailable'}};
	const figures = {...viewOf().figures, lost: 12};
	const late = picture({columns: 80, rows: 24}, {status: sick, figures});
	t.regex(late[1] ?? '', /^ redis unavailable; ok: database, migrat… /);
	t.is(late[23], ' q quits   dropped 12 events, which arrived too fast to be processed');
});

const setup = () => {
	let elapsed = 1000;
	const figures = createFigures(() => elapsed);
	figures.begin(recent);
	const pass = (seconds: number) => {
		elapsed += seconds * 1000;
	};
	return {figures, pass};
};

test('a click counts in its second once that is over, and in its minute at once', (t) => {
	const {figures, pass} = setup();
	const before = figures.read();
	t.is(before.perMinute.at(-1), 1180);
	figures.take(clickOf('n1', '2026-03-10T12:00:06.000Z'));
	t.is(figures.read().perMinute.at(-1), 1181);
	pass(1);
	t.is(figures.read().perSecond.at(-1), 9);
	pass(1);
	t.is(figures.read().perSecond.at(-1), 1);
	t.is(figures.read().links[0]?.count, 12_346);
	pass(60);
	t.is(figures.read().perSecond.at(-1), 0);
	t.is(figures.read().perMinute.at(-1), 0);
	t.is(figures.read().perMinute.at(-2), 1181);
	t.is(figures.read().rate, 0);
});

test('a crawler, a match and an event do not count as clicks', (t) => {
	const {figures} = setup();
	const before = figures.read();
	figures.take(clickOf('n1', '2026-03-10T12:00:05.000Z', {botClass: 'preview-crawler'}));
	for (const event of recent.latest.filter(({type}) => type !== 'click')) {
		figures.take(event);
	}

	const after = figures.read();
	t.deepEqual(after.perMinute, before.perMinute);
	t.deepEqual(after.matches, [
		{name: 'clipboard', count: 41},
		{name: 'no match', count: 5},
	]);
});

test('events repeated after a reconnect are counted once', (t) => {
	const {figures} = setup();
	const take = createIntake(figures);
	const click = (id: string): ServerSentEvent => {
		const {type, data} = clickOf(id, '2026-03-10T12:00:05.000Z');
		return {type, data: JSON.stringify(data), id: '1:1:'};
	};
	const before = figures.read().perMinute.at(-1) ?? 0;
	take(click('a'));
	take(click('b'));
	take(click('a'));
	t.is(figures.read().perMinute.at(-1), before + 2);
	take({type: '', data: '', id: '2:2:'});
	take({...click('a'), id: '2:2:'});
	t.is(figures.read().perMinute.at(-1), before + 3);
	take({type: 'lost', data: '{"count":5}', id: '2:2:'});
	t.is(figures.read().lost, 5);
});

test('many links take no more memory than some', (t) => {
	const {figures} = setup();
	for (let index = 0; index < 5000; index += 1) {
		const link = {id: `l${index}`, shortCode: `s${index}`, title: null};
		figures.take(clickOf(`n${index}`, '2026-03-10T12:00:05.000Z', {link}));
	}

	const {links, latest} = figures.read();
	t.true(links.length <= 2000);
	t.is(links[0]?.name, 'Spring sale (Ab12/spring)');
	t.is(latest.length, 50);
});

test('events are read as the standard says, wherever chunks are cut', async (t) => {
	const text = 'retry: 1000\nevent: click\ndata: {"a":\ndata:"ä"}\nid: 1:2:\n\n:\n\ndata: x\n\ndata: cut off';
	for (const size of [1, 7, 1000]) {
		t.deepEqual(await collect(readEvents(inPieces(text, size))), [
			{type: 'click', data: '{"a":\n"ä"}', id: '1:2:'},
			{type: '', data: '', id: '1:2:'},
			{type: 'message', data: 'x', id: '1:2:'},
		]);
	}
});

test('only lines that differ are drawn, each at its place', (t) => {
	const {paint, forget} = createPainter();
	const found = paint('a\nb\nc');
	t.is(found, '\u001B[?2026h\u001B[2J\u001B[1;1Ha\u001B[K\u001B[2;1Hb\u001B[K\u001B[3;1Hc\u001B[K\u001B[?2026l');
	t.is(paint('a\nB\nc'), '\u001B[?2026h\u001B[2;1HB\u001B[K\u001B[?2026l');
	t.is(paint('a\nB\nc'), '');
	forget();
	t.true(paint('a\nB\nc').includes('\u001B[2J'));
});

/** A server whose stream begins and then only stays open. */
const answers = {
	'GET /admin/status': {body: status},
	'GET /admin/clicks/stream': {
		raw: (_: unknown, response: ServerResponse) => {
			response.writeHead(200, {'content-type': 'text/event-stream'});
			response.write(`event: recent\ndata: ${JSON.stringify(recent)}\nid: 1:1:\n\n`);
		},
	},
};

const terminalTest = hasPty ? test : test.skip;

terminalTest('the program itself takes a real terminal, and Ctrl-C gives it back and ends it with 130', async (t) => {
	const {env} = await startRecordingServer(t, answers);
	const typed: Array<[string, string]> = [['clipboard', '\u0003']];
	const {screen, before, after} = ends(t, await runOnTerminal(t, ['dashboard'], {env, answers: typed}), 130);
	const [first = '', second = ''] = screen.split('\u001B[?1049h');
	t.false(first.includes('Spring sale'));
	t.true(second.split('\u001B[?1049l')[0]?.includes('Spring sale'));
	t.is(after, before);
});
