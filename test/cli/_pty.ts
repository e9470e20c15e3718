import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {folderOf} from '../helpers/folder.ts';
import {binary} from '../helpers/process.ts';

/** Whether this machine has the `script` of util-linux, which makes a pseudo-terminal; every Debian has. */
export const hasPty = /util-linux/.test(spawnSync('script', ['--version'], {encoding: 'utf8'}).stdout ?? '');

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Runs the program on a pseudo-terminal. Each answer is typed when the screen shows its prompt.
 * @returns the whole screen output, the exit code, and the terminal's modes before and after.
 */
export const runOnTerminal = async (
	t: ExecutionContext,
	argv: string[],
	{env, answers}: {env: Record<string, string>; answers: Array<[question: string, keys: string]>},
) => {
	const folder = await folderOf(t);
	const words = [process.execPath, binary, ...argv];
	const kept = (name: string) => quoted(path.join(folder, name));
	// The shell outlives a Ctrl-C that comes as a signal.
	const line = `trap : INT; stty cols 80 rows 24; stty -a > ${kept('before')}; ${words.map(quoted).join(' ')}; echo $? > ${kept('code')}; stty -a > ${kept('after')}`;
	const child = spawn('script', ['--quiet', '--command', line, '/dev/null'], {
		cwd: packageRoot,
		env: {PATH: process.env['PATH'], SHELL: '/bin/sh', TERM: 'xterm', ...env},
		stdio: ['pipe', 'pipe', 'ignore'],
	});
	t.teardown(() => child.kill('SIGKILL'));
	let screen = '';
	const open = [...answers];
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		screen += text;
		const [next] = open;
		if (next && screen.includes(next[0])) {
			open.shift();
			child.stdin.write(next[1]);
		}
	});
	await once(child, 'close');
	const read = (name: string) => readFile(path.join(folder, name), 'utf8');
	return {screen, exitCode: Number(await read('code')), before: await read('before'), after: await read('after')};
};
