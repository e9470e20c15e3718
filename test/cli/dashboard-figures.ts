import test from 'ava';
import {createFigures} from '../../src/cli/dashboard/figures.ts';
import {createIntake} from '../../src/cli/dashboard/intake.ts';
import {createPainter} from '../../src/cli/dashboard/paint.ts';
import {readEvents, type ServerSentEvent} from '../../src/cli/dashboard/read-events.ts';
import {clickOf, recent} from './_dashboard.ts';

const setup = () => {
	let elapsed = 1000;
	const figures = createFigures(() => elapsed);
	figures.begin(recent);
	return {
		figures,
		pass: (seconds: number) => {
			elapsed += seconds * 1000;
		},
	};
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

test('a crawler does not count as a click; matches and events count separately', (t) => {
	const {figures} = setup();
	const before = figures.read();
	figures.take(clickOf('n1', '2026-03-10T12:00:05.000Z', {botClass: 'preview-crawler'}));
	for (const event of recent.latest.filter(({type}) => type !== 'click')) {
		figures.take(event);
	}

	const after = figures.read();
	t.deepEqual(after.perMinute, before.perMinute);
	t.is(after.crawlerViews, before.crawlerViews + 1);
	t.is(after.events, before.events + 1);
	t.deepEqual(after.matches, [
		{name: 'clipboard', count: 41},
		{name: 'none', count: 5},
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
		figures.take(
			clickOf(`n${index}`, '2026-03-10T12:00:05.000Z', {link: {id: `l${index}`, shortCode: `s${index}`, title: null}}),
		);
	}

	const {links, latest} = figures.read();
	t.true(links.length <= 2000);
	t.is(links[0]?.name, 'Spring sale (Ab12/spring)');
	t.is(latest.length, 50);
});

test('events are read as the standard says, wherever chunks are cut', async (t) => {
	const text = 'retry: 1000\nevent: click\ndata: {"a":\ndata:"ä"}\nid: 1:2:\n\n:\n\ndata: x\n\ndata: cut off';
	const bytes = Buffer.from(text);
	for (const size of [1, 7, bytes.length]) {
		const chunks = Array.from({length: Math.ceil(bytes.length / size)}, (_, index) =>
			bytes.subarray(index * size, (index + 1) * size),
		);
		const events: ServerSentEvent[] = [];
		for await (const event of readEvents(
			(async function* () {
				yield* chunks;
			})(),
		)) {
			events.push(event);
		}

		t.deepEqual(events, [
			{type: 'click', data: '{"a":\n"ä"}', id: '1:2:'},
			{type: '', data: '', id: '1:2:'},
			{type: 'message', data: 'x', id: '1:2:'},
		]);
	}
});

test('only lines that differ are drawn, each at its place', (t) => {
	const {paint, forget} = createPainter();
	t.is(
		paint('a\nb\nc'),
		'\u001B[?2026h\u001B[2J\u001B[1;1Ha\u001B[K\u001B[2;1Hb\u001B[K\u001B[3;1Hc\u001B[K\u001B[?2026l',
	);
	t.is(paint('a\nB\nc'), '\u001B[?2026h\u001B[2;1HB\u001B[K\u001B[?2026l');
	t.is(paint('a\nB\nc'), '');
	forget();
	t.true(paint('a\nB\nc').includes('\u001B[2J'));
});
