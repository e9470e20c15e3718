import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {access} from 'node:fs/promises';
import test from 'ava';
import {binary} from '../helpers/process.ts';
import {recent, status} from './_dashboard.ts';
import {startRecordingServer} from './_recording-server.ts';

const SCRIPT = '/usr/bin/script';

/** A server whose stream begins and then only stays open. */
const answers = {
	'GET /admin/status': () => ({body: status}),
	'GET /admin/clicks/stream': {
		raw: (_: unknown, response: import('node:http').ServerResponse) => {
			response.writeHead(200, {'content-type': 'text/event-stream'});
			response.write(`event: recent\ndata: ${JSON.stringify(recent)}\nid: 1:1:\n\n`);
		},
	},
};

for (const [what, keys, exitCode] of [
	['q', 'q', 0],
	['Ctrl-C', '\u0003', 130],
] as const) {
	test(`the program itself takes a real terminal, and ${what} gives it back and ends it with ${exitCode}`, async (t) => {
		// Every Debian has it, but other systems' take other arguments.
		const isThere =
			process.platform === 'linux' &&
			(await access(SCRIPT).then(
				() => true,
				() => false,
			));
		if (!isThere) {
			t.pass('there is no script(1) of util-linux here');
			return;
		}

		const {env} = await startRecordingServer(t, answers);
		const node = `'${process.execPath}' '${binary}' dashboard`;
		const child = spawn(SCRIPT, ['-qec', `stty rows 24 cols 80; ${node}; echo "ended with $?"; stty -a`, '/dev/null'], {
			env: {PATH: process.env['PATH'], SHELL: '/bin/sh', TERM: 'xterm-256color', ...env},
			stdio: ['pipe', 'pipe', 'pipe'],
		});
		t.teardown(() => child.kill('SIGKILL'));
		let text = '';
		for await (const chunk of child.stdout.setEncoding('utf8')) {
			const wasShown = text.includes('clipboard');
			text += chunk;
			if (!wasShown && text.includes('clipboard')) {
				child.stdin.write(keys);
			}

			if (text.includes('ended with') && text.includes('cbreak')) {
				break;
			}
		}

		t.true(text.includes('\u001B[?1049h'));
		t.true(text.includes('Spring sale'));
		const [, after = ''] = text.split('\u001B[?1049l');
		t.regex(after, new RegExp(`ended with ${exitCode}\\b`));
		t.regex(after, / icanon /);
		t.regex(after, / echo /);
		child.stdin.end();
		if (child.exitCode === null) {
			await once(child, 'close');
		}
	});
}
