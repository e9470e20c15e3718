import {setMaxListeners} from 'node:events';
import {reported} from './reported.ts';
import {type Io, isBrokenPipe, processIo} from './terminal/io.ts';

/** What listens for Ctrl-C: each request, its connection and each pause, 16 at once, and a few beside them. */
const LISTENERS = 64;

/** Runs a command line. The word that starts a server needs neither the other commands nor what reads their options. */
const run = async (argv: string[], io: Io): Promise<number> => {
	if (argv.length === 1 && argv[0] === 'serve') {
		return reported(io, async () => {
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
