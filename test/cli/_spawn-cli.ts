import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';
import {packageRoot} from '../../src/platform/package-root.ts';
import {binary} from '../helpers/process.ts';
import {type CommandLine, wordsOf} from './_run-cli.ts';

/** The program as a process of its own. */
export const start = (t: ExecutionContext, argv: CommandLine, env: Record<string, string> = {}) => {
	const child = spawn(process.execPath, [binary, ...wordsOf(argv)], {
		cwd: packageRoot,
		env: {PATH: process.env['PATH'], ...env},
		stdio: ['pipe', 'pipe', 'pipe'],
	});
	t.teardown(() => child.kill('SIGKILL'));
	return child;
};

export type Program = ReturnType<typeof start>;

/** Waits for the end of the program and all that it wrote. */
export const finish = async (child: Program) => {
	const [[exitCode, signal], stdout, stderr] = await Promise.all([
		once(child, 'close'),
		text(child.stdout),
		text(child.stderr),
	]);
	return {exitCode, signal, stdout, stderr};
};
