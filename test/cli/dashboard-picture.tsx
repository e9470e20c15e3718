import test from 'ava';
import stringWidth from 'string-width';
import {createFigures} from '../../src/cli/dashboard/figures.ts';
import type {Size} from '../../src/cli/dashboard/live-screen.ts';
import {noColours} from '../../src/cli/dashboard/palette.ts';
import {pictureOf} from '../../src/cli/dashboard/run-dashboard.tsx';
import type {View} from '../../src/cli/dashboard/view.ts';
import type {Ink} from '../../src/cli/terminal/bar-chart.ts';
import {recent, status} from './_dashboard.ts';

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
	pictureOf(viewOf(more), {palette: noColours, ink}, size).split('\n');

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
 春のセール 全品半額、… 800 ▊            android         4k  none             4
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
		' 12:00:01  miss     Ab12                                                        no_click',
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

test('a lost connection is shown with its reason and the time of the next attempt', (t) => {
	const link = {state: 'waiting', seconds: 4, reason: 'connect ECONNREFUSED 127.0.0.1:3000'} as const;
	const lines = picture({columns: 80, rows: 24}, {link, status: null});
	t.is(lines[0], ' Acme (Ab12)  https://links.example.com            ○ away, again in 4s 12:00:05');
	t.is(lines[1], ' The server does not report its status');
	t.is(lines[23], ' q quits   connect ECONNREFUSED 127.0.0.1:3000');
});

test('failing parts come first', (t) => {
	const sick = {...status, checks: {...status.checks, redis: 'unavailable'}};
	t.regex(picture({columns: 80, rows: 24}, {status: sick})[1] ?? '', /^ redis unavailable; ok: database, migrat… /);
});

test('lost events are reported', (t) => {
	const figures = {...viewOf().figures, lost: 12};
	const lines = picture({columns: 80, rows: 24}, {figures});
	t.is(lines[23], ' q quits   12 events were dropped: they arrived too fast to be processed');
});
