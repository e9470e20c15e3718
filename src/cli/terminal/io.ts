import {setTimeout as sleepMilliseconds} from 'node:timers/promises';
import {printable, terminalText} from './printable.ts';

/** Where text goes: `columns` is there on a terminal. */
export type OutStream = NodeJS.WritableStream & {isTTY?: boolean; columns?: number};
export type InStream = NodeJS.ReadableStream & {isTTY?: boolean};

/** Everything that a command touches of the process it runs in, so that a test can run one inside its own. */
export type Io = {
	stdin: InStream;
	stdout: OutStream;
	stderr: OutStream;
	env: Readonly<Record<string, string | undefined>>;
	cwd: string;
	/** Aborted by Ctrl-C. */
	interruption: AbortSignal;
	/** Waits; rejects with the signal's reason where `interruption` comes first. */
	sleep: (seconds: number) => Promise<void>;
	/** A signal that is aborted after so long. */
	deadline: (seconds: number) => AbortSignal;
	/** Calls `work` again and again until the function it gives back is called. */
	every: (seconds: number, work: () => void) => () => void;
};

/** The Io of this process. Node opens standard input when it is first asked for, which a server never does. */
export const processIo = (interruption: AbortSignal): Io => ({
	get stdin() {
		return process.stdin;
	},
	stdout: process.stdout,
	stderr: process.stderr,
	env: process.env,
	cwd: process.cwd(),
	interruption,
	sleep: (seconds) => sleepMilliseconds(seconds * 1000, undefined, {signal: interruption}),
	deadline: (seconds) => AbortSignal.timeout(seconds * 1000),
	every: (seconds, work) => {
		const timer = setInterval(work, seconds * 1000).unref();
		return () => clearInterval(timer);
	},
});

/** Writes and waits until it is taken, so that a slow reader slows us down. @throws what the stream reports, EPIPE too. */
export const write = (stream: OutStream, chunk: string | Uint8Array): Promise<void> =>
	new Promise((resolve, reject) => {
		stream.write(chunk, (error) => (error ? reject(error) : resolve()));
	});

/** Writes a line or more for a reader to standard output: what they quote cannot steer the terminal. */
export const print = ({stdout}: Pick<Io, 'stdout'>, text: string): Promise<void> =>
	write(stdout, terminalText(`${text}\n`));

/** Writes text that is data: as it is into a file or a pipe, and on a terminal as one may look at it. */
export const writeData = (stream: OutStream, text: string): Promise<void> =>
	write(stream, stream.isTTY ? printable(text) : text);

/**
 * Writes what is no data, to standard error. It may quote a file, a server or a line that was typed, none of which may
 * steer the terminal.
 */
export const tell = ({stderr}: Pick<Io, 'stderr'>, text: string): Promise<void> =>
	write(stderr, printable(`${text}\n`));

/** Whether the reader of our output is gone: `oplink links export | head` is no failure. */
export const isBrokenPipe = (error: unknown): boolean =>
	error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');

/**
 * Colour and animation only on a terminal that wants them (https://no-color.org, contract/cli 2); one of no width, as
 * some build servers have, can show none.
 */
export const isLively = (stream: OutStream, env: Io['env']): boolean =>
	stream.isTTY === true && stream.columns !== 0 && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
