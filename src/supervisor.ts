import cluster, {type Worker} from 'node:cluster';
import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';

/** What a worker tells its supervisor: that it answers. */
export type WorkerMessage = {is: 'ready'};

/** What a worker is told: to print the welcome, to stop gracefully. */
export type SupervisorMessage = {is: 'welcome' | 'stop'};

/** A worker that ended sooner than this after its start is not started again at once. */
const SHORT_LIFE_MS = 10_000;
const PAUSE_MS = 1000;

type Exit = {code: number | null; signal: string | null};

const tell = (worker: Worker, message: SupervisorMessage): void => {
	if (worker.isConnected()) {
		worker.send(message);
	}
};

/** Starts a worker. `ready` resolves when it answers, `exited` when it is gone, whichever way. */
const startWorker = () => {
	const worker = cluster.fork();
	const exited = new Promise<Exit>((resolve) => {
		worker.once('exit', (code, signal) => resolve({code, signal}));
	});
	const ready = new Promise<true>((resolve) => {
		worker.on('message', (message: WorkerMessage) => {
			if (message.is === 'ready') {
				resolve(true);
			}
		});
	});
	return {worker, exited, ready, since: performance.now()};
};

type Running = ReturnType<typeof startWorker>;

type Options = {
	/** How many processes answer. */
	count: number;
	log: Logger;
	/** Resolves when the installation is to stop. */
	stopped: Promise<unknown>;
	/** How long workers may take to stop, in seconds; those that are left then are killed. */
	stopSeconds: number;
};

/**
 * Runs workers that share one port (Node's `cluster`) until `stopped`, each of which serves by itself: one that dies is
 * replaced, and the others go on meanwhile. The first is started alone, so that what keeps a server from starting is
 * told once.
 * @returns the exit code: 0 after a stop, that of the first worker where it did not come to answer.
 */
export const supervise = async ({count, log, stopped, stopSeconds}: Options): Promise<number> => {
	const workers = new Set<Running>();
	let stopping = false;

	const start = (): Running => {
		const running = startWorker();
		workers.add(running);
		void running.exited.then(async (exit) => {
			workers.delete(running);
			if (stopping || !started) {
				return;
			}

			log.error({worker: running.worker.process.pid, ...exit}, 'a worker ended; another one takes its place');
			if (performance.now() - running.since < SHORT_LIFE_MS) {
				await delay(PAUSE_MS);
			}

			if (!stopping) {
				start();
			}
		});
		return running;
	};

	const stop = async (): Promise<void> => {
		stopping = true;
		const leaving = [...workers];
		for (const {worker} of leaving) {
			tell(worker, {is: 'stop'});
		}

		const deadline = setTimeout(() => {
			for (const {worker} of workers) {
				worker.process.kill('SIGKILL');
			}
		}, stopSeconds * 1000);
		await Promise.all(leaving.map(({exited}) => exited));
		clearTimeout(deadline);
	};

	let started = false;
	const first = start();
	const others: Running[] = [];
	const outcome = await Promise.race([first.ready, first.exited, stopped.then(() => null)]);
	if (outcome === true) {
		others.push(...Array.from({length: count - 1}, start));
		await Promise.race([Promise.all(others.map(({ready, exited}) => Promise.race([ready, exited]))), stopped]);
		started = true;
		log.info({workers: workers.size}, 'all workers answer');
		tell(first.worker, {is: 'welcome'});
		// Those that ended before the others answered.
		for (let missing = count - workers.size; missing > 0; missing -= 1) {
			start();
		}

		await stopped;
	} else if (outcome !== null) {
		return outcome.code ?? 1;
	}

	await stop();
	return 0;
};
