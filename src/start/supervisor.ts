import cluster, {type Worker} from 'node:cluster';
import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {closeListener} from '../http/entrance.ts';
import type {SupervisorWindows} from '../limits/supervisor-windows.ts';
import {createGathering, type Gathering} from '../metrics/gather-figures.ts';
import {createHandOver, type HandOver} from './hand-over.ts';
import {listenAt, type Place} from './port.ts';
import type {SupervisorMessage, WorkerMessage} from './supervisor-messages.ts';

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
const startWorker = (port: number) => {
	const worker = cluster.fork({PORT: String(port)});
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

/** Gives a worker its share of the connections, from when it answers until it is to stop. */
const shareConnections = ({worker}: Running, handOver: HandOver): void => {
	worker.on('message', ({is}: WorkerMessage) => {
		if (is === 'ready') {
			handOver.join(worker);
		} else if (is === 'taken') {
			handOver.taken(worker);
		} else if (is === 'leaving') {
			handOver.leave(worker);
			// Comes after the last connection that was handed over.
			tell(worker, {is: 'stop'});
		}
	});
	worker.once('disconnect', () => handOver.leave(worker));
};

/** Answers what a worker asks about limits, from its start on. */
const keepLimits = ({worker}: Running, windows: SupervisorWindows): void =>
	windows.serve({
		send: (message) => tell(worker, message),
		onMessage: (listener) => {
			worker.on('message', (message: WorkerMessage) => {
				if (message.is === 'limits') {
					listener(message);
				}
			});
		},
		onEnd: (listener) => worker.once('disconnect', listener),
	});

type Options = {
	/** Where to listen. */
	place: Place;
	/** How many processes answer. */
	count: number;
	/** Most connections that wait for a worker. */
	maxWaiting: number;
	log: Logger;
	/** The rate limits of all. */
	windows: SupervisorWindows;
	/** Resolves when the installation is to stop. */
	stopped: Promise<unknown>;
	/** How long workers may take to stop, in seconds; those that are left then are killed. */
	stopSeconds: number;
};

/**
 * Listens, and runs workers that answer what comes until `stopped`, each of which serves by itself: one that dies is
 * replaced, and the others go on meanwhile. The first is started alone, so that what keeps a server from starting is
 * told once.
 * @returns the exit code: 0 after a stop, that of the first worker where it did not come to answer.
 * @throws where the port is taken.
 */
export const supervise = async ({
	place,
	count,
	maxWaiting,
	log,
	windows,
	stopped,
	stopSeconds,
}: Options): Promise<number> => {
	const workers = new Set<Running>();
	const gathering = createGathering({workers: count, waitMs: FIGURES_WAIT_MS});
	const handOver = createHandOver({maxWaiting});
	const port = await listenAt(handOver.listener, place);
	setInterval(() => void gathering.gather(false), FIGURES_EVERY_MS).unref();
	let stopping = false;
	void stopped.then(() => {
		stopping = true;
	});

	const start = (): Running => {
		const running = startWorker(port);
		workers.add(running);
		keepLimits(running, windows);
		void shareFigures(running, gathering);
		shareConnections(running, handOver);
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
		const deadline = setTimeout(() => {
			for (const {worker} of workers) {
				worker.process.kill('SIGKILL');
			}
		}, stopSeconds * 1000);
		await closeListener(handOver.listener);
		handOver.finish();
		const leaving = [...workers];
		for (const {worker} of leaving) {
			tell(worker, {is: 'stop'});
		}

		await Promise.all(leaving.map(({exited}) => exited));
		clearTimeout(deadline);
	};

	let started = false;
	const first = start();
	const others: Running[] = [];
	const outcome = await Promise.race([first.ready, first.exited, stopped.then(() => null)]);
	if (outcome !== true && outcome !== null) {
		handOver.listener.close();
		handOver.finish();
		return outcome.code ?? 1;
	}

	if (!stopping) {
		others.push(...Array.from({length: count - 1}, start));
		await Promise.race([Promise.all(others.map(({ready, exited}) => Promise.race([ready, exited]))), stopped]);
	}

	if (!stopping) {
		started = true;
		log.info({workers: workers.size}, 'all workers answer');
		tell(first.worker, {is: 'welcome'});
		// Those that ended before the others answered.
		for (let missing = count - workers.size; missing > 0; missing -= 1) {
			start();
		}
	}

	await stopped;
	await stop();
	return 0;
};
