import cluster, {type Worker} from 'node:cluster';
import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {createGathering, type Gathering} from './metrics/gather-figures.ts';
import type {Figure} from './metrics/instruments.ts';

/** What a worker tells its supervisor: that it answers, what it counts (asked, or at its end), that it was scraped. */
export type WorkerMessage =
	| {is: 'ready'}
	| {is: 'figures'; round: number | null; figures: Figure[]}
	| {is: 'scraped'; question: number};

/** What a worker is told: to print the welcome, to stop gracefully, to tell what it counts; what all do. */
export type SupervisorMessage =
	| {is: 'welcome' | 'stop'}
	| {is: 'count'; round: number; isScrape: boolean}
	| {is: 'figures_of_all'; question: number; figures: Figure[]};

/** A worker that ended sooner than this after its start is not started again at once. */
const SHORT_LIFE_MS = 10_000;
const PAUSE_MS = 1000;

/** How long a scrape waits for a worker. */
const FIGURES_WAIT_MS = 1000;

/** How often workers are asked without a scrape: one that is killed takes along what it counted since. */
const FIGURES_EVERY_MS = 10_000;

type Exit = {code: number | null; signal: string | null};

const tell = (worker: Worker, message: SupervisorMessage): void => {
	if (worker.isConnected()) {
		// One that is gone by now is heard of by its exit.
		worker.send(message, () => {});
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

/** Has a worker asked for what it counts as soon as it answers, and answers its own questions. */
const shareFigures = async ({worker, ready}: Running, gathering: Gathering): Promise<void> => {
	await ready;
	const member = gathering.join((round, isScrape) => tell(worker, {is: 'count', round, isScrape}));
	// Comes after the last message, as `exit` may not.
	worker.once('disconnect', member.left);
	worker.on('message', async (message: WorkerMessage) => {
		if (message.is === 'figures') {
			member.told(message.round, message.figures);
		} else if (message.is === 'scraped') {
			const figures = await gathering.gather(true);
			tell(worker, {is: 'figures_of_all', question: message.question, figures});
		}
	});
};

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
	const gathering = createGathering({workers: count, waitMs: FIGURES_WAIT_MS});
	setInterval(() => void gathering.gather(false), FIGURES_EVERY_MS).unref();
	let stopping = false;

	const start = (): Running => {
		const running = startWorker();
		workers.add(running);
		void shareFigures(running, gathering);
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
