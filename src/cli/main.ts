import {setMaxListeners} from 'node:events';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {createKeyWatch} from '../platform/npm-interrupt.ts';
import {exitCodes} from './cli-errors.ts';
import {runAndReport} from './report-error.ts';
import {type Io, isBrokenPipe, processIo} from './terminal/io.ts';

/** Listeners for Ctrl-C: each request, its connection and each pause, 16 at once, and a few more. */
const LISTENERS = 64;

/** Runs a command line. Starting a server loads neither the other commands nor the option parser. */
const run = async (argv: string[], io: Io): Promise<number> => {
	if (argv.length === 1 && argv[0] === 'serve') {
		return runAndReport(io, async () => {
			const {serve} = await import('../start/serve.ts');
			return serve(process.env);
		});
	}

	const program = await import('./program.ts');
	return program.run(argv, io);
};

/** Runs `oplink` in this process. The first Ctrl-C ends a command in order, a second one ends the process. */
export const main = async (argv: string[]): Promise<number> => {
	const interruption = new AbortController();
	setMaxListeners(LISTENERS, interruption.signal);
	let isAnotherKey: (() => boolean) | undefined;
	// Keep the first listener: ink's signal package ends the process if its own is the only one.
	const interrupt = () => {
		if (isAnotherKey === undefined) {
			isAnotherKey = createKeyWatch();
			interruption.abort();
			return;
		}

		if (!isAnotherKey()) {
			return;
		}

		process.removeListener('SIGINT', interrupt);
		if (process.listenerCount('SIGINT') === 0) {
			process.kill(process.pid, 'SIGINT');
		}
	};
	process.on('SIGINT', interrupt);
	const io = processIo(interruption.signal);
	let fault: Error | null = null;
	for (const stream of [process.stdout, process.stderr]) {
		stream.on('error', (error) => {
			fault ??= isBrokenPipe(error) ? null : error;
		});
	}

	try {
		const exitCode = await run(argv, io);
		// Output that was lost, as on a full disk, is a failure even if nobody waited for it, and known a turn later.
		await nextTurn();
		return exitCode === exitCodes.ok && fault !== null ? await runAndReport(io, () => Promise.reject(fault)) : exitCode;
	} finally {
		// An interrupted import may still wait for a line of standard input, which would keep the process alive.
		process.stdin.destroy();
	}
};
