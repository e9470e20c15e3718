import {Readable, Writable} from 'node:stream';
import {run} from '../../src/cli/program.ts';
import type {Io} from '../../src/cli/terminal/io.ts';

export type CliResult = {exitCode: number; stdout: string; stderr: string};

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

/** Runs a command line in this process, off a terminal, with an environment of its own. Nothing is waited for, and no time is up. */
export const runCli = async (
	argv: string[],
	{env = {}, stdin = '', io = {}}: {env?: Record<string, string>; stdin?: string | Readable; io?: Partial<Io>} = {},
): Promise<CliResult & {stdoutBytes: Buffer}> => {
	const stdout = createSink();
	const stderr = createSink();
	const exitCode = await run(argv, {
		stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
		stdout: stdout.stream,
		stderr: stderr.stream,
		env,
		cwd: '/nonexistent',
		interruption: new AbortController().signal,
		sleep: async () => {},
		deadline: () => new AbortController().signal,
		every: () => () => {},
		...io,
	});
	return {exitCode, stdout: stdout.text(), stderr: stderr.text(), stdoutBytes: stdout.bytes()};
};
