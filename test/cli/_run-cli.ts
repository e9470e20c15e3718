import {Readable, Writable} from 'node:stream';
import type {ExecutionContext} from 'ava';
import {run} from '../../src/cli/program.ts';
import type {Io} from '../../src/cli/terminal/io.ts';

export type CliResult = {exitCode: number; stdout: string; stderr: string};

/** A command line: its words, or a text that is split at spaces. */
export type CommandLine = string | readonly string[];

export const wordsOf = (line: CommandLine): string[] => (typeof line === 'string' ? line.split(/\s+/) : [...line]);

/** A stream that collects its output. */
export const createSink = () => {
	const chunks: Buffer[] = [];
	const stream = new Writable({
		write: (chunk: Buffer, _encoding, done) => {
			chunks.push(Buffer.from(chunk));
			done();
		},
	});
	return {stream, bytes: () => Buffer.concat(chunks), text: () => Buffer.concat(chunks).toString()};
};

export type CliOptions = {env?: Record<string, string>; stdin?: string | Readable; io?: Partial<Io>};

/** Runs a command line in this process, off a terminal, with an environment of its own. Nothing is waited for, and no time is up. */
export const runCli = async (
	argv: CommandLine,
	{env = {}, stdin = '', io = {}}: CliOptions = {},
): Promise<CliResult & {stdoutBytes: Buffer}> => {
	const stdout = createSink();
	const stderr = createSink();
	const exitCode = await run(wordsOf(argv), {
		stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
		stdout: stdout.stream,
		stderr: stderr.stream,
		env,
		cwd: '/nonexistent',
		interruption: new AbortController().signal,
		sleep: async () => {},
		every: () => () => {},
		...io,
	});
	return {exitCode, stdout: stdout.text(), stderr: stderr.text(), stdoutBytes: stdout.bytes()};
};

/** Runs a command line on a terminal, without colours. @returns what is on its screen as `stdout`. */
export const runOnScreen = async (argv: CommandLine, env: Record<string, string>, columns = 80) => {
	const screen = createSink();
	const stdout = Object.assign(screen.stream, {isTTY: true, columns});
	const result = await runCli(argv, {env: {...env, NO_COLOR: '1'}, io: {stdout}});
	return {...result, stdout: screen.text()};
};

type Expected = {stdout?: string | RegExp | RegExp[]; stderr?: string | RegExp | RegExp[]; json?: unknown};

/** Asserts how a command ended: its exit code, each output as a whole or by patterns, or standard output as JSON. */
export const ends = <Result extends {exitCode: number; stdout?: string; stderr?: string}>(
	t: ExecutionContext,
	result: Result,
	exitCode: number,
	expected: Expected = {},
): Result => {
	t.is(result.exitCode, exitCode, `${result.stderr ?? ''}${result.stdout ?? ''}`);
	for (const name of ['stdout', 'stderr'] as const) {
		const given = result[name] ?? '';
		for (const text of [expected[name] ?? []].flat()) {
			if (typeof text === 'string') {
				t.is(given, text, name);
			} else {
				t.regex(given, text, name);
			}
		}
	}

	if ('json' in expected) {
		t.deepEqual(JSON.parse(result.stdout ?? ''), expected.json);
	}

	return result;
};
