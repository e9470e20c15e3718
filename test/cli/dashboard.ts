import {setTimeout as wait} from 'node:timers/promises';
import {stripVTControlCharacters} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import stringWidth from 'string-width';
import type {Io} from '../../src/cli/terminal/io.ts';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {openLine} from '../helpers/cut-off.ts';
import {createTerminal} from './_fake-terminal.ts';
import {closedAddress} from './_recording-server.ts';
import {createSink, ends, runCli} from './_run-cli.ts';
import {environment, serviceCli} from './_service-cli.ts';

const segmenter = new Intl.Segmenter();
const INTRODUCER = '\u001B[';
const SEQUENCE = /(\??)([\d;]*)([A-Za-z])/y;

/**
 * A terminal that renders a picture. It supports the dashboard's escape sequences and fails on others. Output before
 * and after the alternate screen goes to the main one.
 */
const createScreen = (size: {columns: number; rows: number}) => {
	const sink = createSink();
	const blank = () => Array.from({length: stdout.rows}, () => Array.from({length: stdout.columns}, () => ' '));
	const stdout = Object.assign(sink.stream, {isTTY: true, ...size});
	const state = {cells: blank(), row: 0, column: 0, modes: new Set<string>(), colours: [] as string[], first: ''};

	const put = (segment: string): void => {
		const width = stringWidth(segment);
		const line = state.cells[state.row];
		if (line === undefined || state.column + width > stdout.columns) {
			throw new Error(`'${segment}' is outside of the screen, at ${state.row},${state.column}`);
		}

		line.splice(state.column, width, segment, ...Array.from({length: width - 1}, () => ''));
		state.column += width;
	};
	const act = (isPrivate: boolean, parameters: string, letter: string): void => {
		if (isPrivate) {
			state.modes[letter === 'h' ? 'add' : 'delete'](parameters);
		} else if (letter === 'H') {
			const [row = 1, column = 1] = parameters.split(';').map(Number);
			Object.assign(state, {row: row - 1, column: column - 1});
		} else if (letter === 'J' && parameters === '2') {
			state.cells = blank();
		} else if (letter === 'K' && parameters === '') {
			state.cells[state.row]?.fill(' ', state.column);
		} else if (letter === 'm') {
			state.colours.push(parameters);
		} else {
			throw new Error(`the screen does not know ESC [ ${parameters} ${letter}`);
		}
	};
	const interpret = (text: string): void => {
		for (let at = 0; at < text.length; ) {
			SEQUENCE.lastIndex = at + INTRODUCER.length;
			const [sequence, mark, parameters = '', letter = ''] = SEQUENCE.exec(text) ?? [];
			if (text.startsWith(INTRODUCER, at) && sequence !== undefined) {
				act(mark === '?', parameters, letter);
				at += INTRODUCER.length + sequence.length;
				continue;
			}

			const end = text.indexOf(INTRODUCER, at);
			const plain = text.slice(at, end === -1 ? text.length : end);
			if (state.modes.has('1049')) {
				for (const {segment} of segmenter.segment(plain)) {
					put(segment);
				}
			} else {
				state.first += plain;
			}

			at += plain.length;
		}
	};

	let read = 0;
	const settled = () => {
		const text = sink.text();
		interpret(text.slice(read));
		read = text.length;
		return state;
	};
	return {
		stdout,
		/** The raw output. */
		raw: sink.text,
		/** The visible lines without trailing spaces. */
		lines: (): string[] => settled().cells.map((line) => line.join('').trimEnd()),
		/** Modes that are on: 1049 the second screen, 7 wrapping turned on anew, 25 the cursor shown anew. */
		modes: () => settled().modes,
		/** Colours and other looks that were asked for, in order. */
		colours: () => settled().colours,
		/** The contents of the main screen. */
		first: () => settled().first,
		resize: (to: {columns: number; rows: number}) => {
			settled();
			Object.assign(stdout, to);
			state.cells = blank();
			stdout.emit('resize');
		},
	};
};

const {service, cli, json} = serviceCli(test);

const iphone =
	'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

const clickOn = (url: string) => anonymous(service).get(new URL(url).pathname, {'User-Agent': iphone});

type Setup = {env?: Record<string, string>; columns?: number; rows?: number; io?: Partial<Io>};

/** `oplink dashboard` on a terminal; frames are drawn as the command asks for them. */
const onTerminal = (t: ExecutionContext, argv: string[], {env = {}, columns = 80, rows = 24, io = {}}: Setup = {}) => {
	const screen = createScreen({columns, rows});
	const keyboard = createTerminal();
	// A dashboard left running by a failed test would draw forever.
	const timers = new Set<NodeJS.Timeout>();
	t.teardown(() => timers.forEach(clearInterval));
	const ended = runCli(['dashboard', ...argv], {
		env: {...environment(service), ...env},
		stdin: keyboard.io.stdin,
		io: {
			stdout: screen.stdout,
			sleep: () => wait(10),
			every: (_seconds, work) => {
				const timer = setInterval(work, 250);
				timers.add(timer);
				return () => clearInterval(timer);
			},
			...io,
		},
	});
	const until = async (shows: (lines: string[]) => boolean): Promise<string[]> => {
		for (;;) {
			const lines = screen.lines();
			if (shows(lines)) {
				return lines;
			}

			await wait(20);
		}
	};
	return {
		screen,
		keyboard,
		ended,
		until,
		untilShown: (text: string) => until((lines) => lines.some((line) => line.includes(text))),
		type: (keys: string) => keyboard.io.stdin.write(keys),
	};
};

const live = async (t: ExecutionContext, acme: TestOrganization, setup: Setup = {}) => {
	const dashboard = onTerminal(t, ['--org', acme.orgKey], setup);
	await dashboard.untilShown('live');
	return dashboard;
};

test('clicks show as they happen, and q gives the terminal back as it was', async (t) => {
	const acme = await organization(service);
	const spring = await link(acme, {title: 'Spring 春'});
	const {screen, keyboard, ended, untilShown, type} = await live(t, acme);
	await untilShown('none yet');
	t.true(screen.modes().has('1049'));
	await clickOn(spring.url);
	const lines = await untilShown('ios · Safari');
	const row = lines.find((line) => line.includes('ios · Safari')) ?? '';
	t.regex(
		row,
		new RegExp(`^ \\d\\d:00:00 {2}click {4}Spring 春 \\(${acme.orgKey}/${spring.shortCode}\\) +ios · Safari$`),
	);
	t.regex(lines[0] ?? '', /● live \d\d:\d\d:\d\d$/);
	t.true((lines[0] ?? '').startsWith(` ${acme.name.slice(0, 20)}`));
	t.regex(lines[1] ?? '', /^ ok: database, migrations +Oplink /);
	t.is(lines[23], ' q quits');
	type('q');
	ends(t, await ended, 0, {stderr: ''});
	t.deepEqual([...screen.modes()].toSorted(), ['25', '7']);
	t.is(screen.first(), '');
	t.deepEqual(keyboard.modes, [true, false]);
});

for (const what of ['Ctrl-C', 'a signal']) {
	test(`${what} gives the terminal back and ends with 130`, async (t) => {
		const interruption = new AbortController();
		const {signal} = interruption;
		const {screen, ended, type} = await live(t, await organization(service), {io: {interruption: signal}});
		if (what === 'Ctrl-C') {
			type('\u0003');
		} else {
			interruption.abort();
		}

		ends(t, await ended, 130, {stderr: 'Interrupted\n'});
		t.false(screen.modes().has('1049'));
	});
}

test('another size is another picture, with nothing left of the one before', async (t) => {
	const acme = await organization(service);
	const {screen, ended, type, until} = await live(t, acme, {columns: 120, rows: 40});
	await until((lines) => lines[39] === ' q quits');
	screen.resize({columns: 80, rows: 24});
	await until((lines) => lines[23] === ' q quits' && lines.length === 24);
	screen.resize({columns: 40, rows: 10});
	const lines = await until((all) => all[1] === '60 by 18 are needed; q quits');
	t.is(lines.filter((line) => line !== '').length, 2);
	type('q');
	t.is((await ended).exitCode, 0);
});

test('with NO_COLOR it is live without a colour', async (t) => {
	const {screen, ended, type} = await live(t, await organization(service), {env: {NO_COLOR: '1'}});
	type('q');
	await ended;
	t.deepEqual(screen.colours(), []);
});

/** A live dashboard, over a line that can be cut. */
const liveOverLine = async (t: ExecutionContext, acme: TestOrganization) => {
	const {hostname, port} = new URL(service.url);
	const line = await openLine({host: hostname, port: Number(port)});
	t.teardown(() => line.close());
	return {line, dashboard: await live(t, acme, {env: {OPLINK_URL: `http://127.0.0.1:${line.port}`}})};
};

test('a lost connection is shown, and missed events appear after reconnecting', async (t) => {
	const acme = await organization(service);
	const spring = await link(acme, {title: 'Meanwhile'});
	const {line, dashboard} = await liveOverLine(t, acme);
	await line.cut();
	await dashboard.untilShown('away, again in');
	await clickOn(spring.url);
	await line.mend();
	await dashboard.untilShown('● live');
	await dashboard.untilShown('Meanwhile');
	dashboard.type('q');
	t.is((await dashboard.ended).exitCode, 0);
});

test('a refusal while it runs ends it with the terminal given back', async (t) => {
	const acme = await organization(service, {plan: null});
	const {line, dashboard} = await liveOverLine(t, acme);
	await line.cut();
	await service.services.db('organizations').where({id: acme.id}).delete();
	await line.mend();
	ends(t, await dashboard.ended, 4, {stderr: /^Error: Organization not found/});
	t.false(dashboard.screen.modes().has('1049'));
});

test('without a terminal the current figures are printed once, and --json prints the API’s answer', async (t) => {
	const acme = await organization(service);
	const spring = await link(acme, {title: 'Printed'});
	await clickOn(spring.url);
	const printed = ends(t, await cli(`dashboard --org ${acme.orgKey}`), 0, {
		stdout: [/CLICKS PER MINUTE 0 in the last 60s/, / Printed \(/],
	});
	t.is(stripVTControlCharacters(printed.stdout), printed.stdout);
	t.false(printed.stdout.includes('q quits'));
	const {status, recent} = await json(`dashboard --org ${acme.id}`);
	t.is(status.status, 'ok');
	t.is(recent.perMinute.at(-1), 1);
	t.is(recent.links[0].link.id, spring.id);
	const dumb = onTerminal(t, ['--org', acme.orgKey], {env: {TERM: 'dumb'}});
	t.is((await dumb.ended).exitCode, 0);
	t.regex(dumb.screen.first(), /CLICKS PER MINUTE/);
});

for (const [what, argv, env, exitCode] of [
	['an unknown organization', ['--org', 'Zz99'], {}, 4],
	['a wrong token', [], {OPLINK_ADMIN_TOKEN: 'wrong'}, 3],
	['an unreachable server', [], {OPLINK_URL: closedAddress}, 7],
] satisfies Array<[string, string[], Record<string, string>, number]>) {
	test(`${what} is reported before the screen is taken`, async (t) => {
		const {screen, ended} = onTerminal(t, argv, {env});
		t.is((await ended).exitCode, exitCode);
		t.is(screen.raw(), '');
	});
}
