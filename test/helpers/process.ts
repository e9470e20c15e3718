import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmod, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';

/** Registers cleanup for the end of the test or of the test file. */
type Teardown = Pick<ExecutionContext, 'teardown'>;

/** The program of this run, compiled from the sources as they are. */
export const binary = process.env['TEST_BINARY'] ?? '';

/** The binary as a user starts it, with its own environment. */
export const oplink = (
	t: Teardown,
	args: string[],
	env: Record<string, string>,
	{umask = '022', program = binary} = {},
) => {
	const child = spawn('sh', ['-c', `umask ${umask}; exec "$0" "$@"`, process.execPath, program, ...args], {
		env: {PATH: process.env.PATH, HOME: process.env.HOME, ...env},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	t.teardown(() => child.kill('SIGKILL'));
	let [stdout, stderr] = ['', ''];
	const waiting = new Set<() => void>();
	const note = () => {
		for (const check of waiting) {
			check();
		}
	};
	child.stdout.on('data', (chunk) => {
		stdout += chunk;
		note();
	});
	child.stderr.on('data', (chunk) => {
		stderr += chunk;
		note();
	});
	const ended = once(child, 'close').then(([code]) => {
		note();
		return code as number | null;
	});
	const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
		new Promise((resolve, reject) => {
			const check = () => {
				const found = pattern.exec(`${stdout}${stderr}`);
				if (found !== null) {
					waiting.delete(check);
					resolve(found);
				} else if (child.exitCode !== null) {
					reject(new Error(`ended with ${child.exitCode}: ${stderr}`));
				}
			};
			waiting.add(check);
			check();
		});
	return {child: child as ChildProcess, ended, printed, stdout: () => stdout, stderr: () => stderr};
};

/** An empty DATA_DIR, removed with the test. */
export const dataDirectory = async (t: Teardown): Promise<string> => {
	const directory = await mkdtemp(path.join(tmpdir(), 'oplink-serve-'));
	// Under root the database belongs to nobody, who must be able to reach it.
	await chmod(directory, 0o711);
	t.teardown(() => rm(directory, {recursive: true, force: true}));
	return directory;
};

/** The output of a start, with the address. */
export const ready = /Oplink is ready at (\S+)/;

/** The lines of standard error for people; a start that waits for its database logs JSON. */
export const sentencesOf = (stderr: string): string[] =>
	stderr
		.trim()
		.split('\n')
		.filter((line) => !line.startsWith('{'));
