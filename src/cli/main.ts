import {setMaxListeners} from 'node:events';
import {isBrokenPipe, processIo} from './io.ts';
import {run} from './program.ts';

/** What listens for Ctrl-C: each request, its connection and each pause, 16 at once, and a few beside them. */
const LISTENERS = 64;

/** Runs `oplink` in this process. The first Ctrl-C ends a command in order, a second one ends the process. */
export const main = async (argv: string[]): Promise<number> => {
	const interruption = new AbortController();
	setMaxListeners(LISTENERS, interruption.signal);
	// It stays for the first one: ink's package for signals ends the process where it finds itself the only listener.
	const interrupt = () => {
		if (!interruption.signal.aborted) {
			interruption.abort();
			return;
		}

		process.removeListener('SIGINT', interrupt);
		if (process.listenerCount('SIGINT') === 0) {
			process.kill(process.pid, 'SIGINT');
		}
	};
	process.on('SIGINT', interrupt);
	for (const stream of [process.stdout, process.stderr]) {
		stream.on('error', (error) => {
			if (!isBrokenPipe(error)) {
				throw error;
			}
		});
	}

	try {
		return await run(argv, processIo(interruption.signal));
	} finally {
		// An interrupted import may still be waiting for a line of standard input, which would keep the process alive.
		process.stdin.destroy();
	}
};
