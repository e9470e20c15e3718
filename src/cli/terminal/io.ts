import {setTimeout as sleepMilliseconds} from 'node:timers/promises';
import {printable, terminalText} from './printable.ts';

/** An output; `columns` is set on a terminal. */
export type OutStream = NodeJS.WritableStream & {isTTY?: boolean; columns?: number};
export type InStream = NodeJS.ReadableStream & {isTTY?: boolean};

/** A command's access to its process, so that tests can run commands in theirs. */
export type Io = {
	stdin: InStream;
	stdout: OutStream;
	stderr: OutStream;
	env: Readonly<Record<string, string | undefined>>;
	cwd: string;
	/** Aborted by Ctrl-C. */
	interruption: AbortSignal;
	/** Waits; rejects with the signal's reason if `interruption` comes first. */
	sleep: (seconds: number) => Promise<void>;
	/** Calls `work` repeatedly until the returned function is called. */
	every: (seconds: number, work: () => void) => () => void;
};

/** The Io of this process. Node opens standard input on first use, which a server never makes. */
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
	every: (seconds, work) => {
		const timer = setInterval(work, seconds * 1000).unref();
		return () => clearInterval(timer);
	},
});

/** Writes with backpressure. @throws the stream's error, EPIPE too. */
export const write = (stream: OutStream, chunk: string | Uint8Array): Promise<void> =>
	new Promise((resolve, reject) => {
		stream.write(chunk, (error) => (error ? reject(error) : resolve()));
	});

/** Writes text for readers to standard output: quoted text cannot send escape sequences to the terminal. */
export const print = ({stdout}: Pick<Io, 'stdout'>, text: string): Promise<void> =>
	write(stdout, terminalText(`${text}\n`));

/** Writes data: verbatim to a file or a pipe, made printable on a terminal. */
export const writeData = (stream: OutStream, text: string): Promise<void> =>
	write(stream, stream.isTTY ? printable(text) : text);

/**
 * Writes messages to standard error, wrapped on a terminal. They may quote a file, a server or a typed line, whose
 * escape sequences are neutralized.
 */
export const writeMessage = async ({stderr}: Pick<Io, 'stderr'>, text: string): Promise<void> => {
	// Loaded here: the tables of how wide characters are cost a start of the server more than all else of the CLI.
	const {messageText} = await import('./wrapped.ts');
	await write(stderr, messageText(`${text}\n`, stderr));
};

/** Whether the reader of our output closed the pipe: `oplink links export | head` is a success. */
export const isBrokenPipe = (error: unknown): boolean =>
	error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');

/**
 * Colour and animation only on a terminal that supports them (https://no-color.org, contract/operations 14); a terminal of
 * width 0, as on some build servers, cannot show any.
 */
export const supportsStyles = (stream: OutStream, env: Io['env']): boolean =>
	stream.isTTY === true && stream.columns !== 0 && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
