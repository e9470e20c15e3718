import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = "import {main} from './src/cli/main.ts'; process.exitCode = await main(process.argv.slice(1));";

/** The program as a process of its own, from its sources, as bin/oplink.js starts it from dist. */
export const start = (t: ExecutionContext, argv: string[], env: Record<string, string> = {}) => {
	const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, '--', ...argv], {
		cwd: root,
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
