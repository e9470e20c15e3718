import cluster, {type Worker} from 'node:cluster';
import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {createGathering, type Gathering} from '../operations/metrics/gather-figures.ts';
import {closeListener} from '../platform/http/entrance.ts';
import {type ListenAddress, listenAt} from '../platform/http/port.ts';
import type {Limiter} from '../platform/limits/limiter.ts';
import {decideForWorker} from '../platform/limits/worker-limiter.ts';
import {createHandOver, type HandOver} from './hand-over.ts';
import type {SupervisorMessage, WorkerMessage} from './supervisor-messages.ts';
import {createClicksOfWorkers} from './worker-clicks.ts';

/** A worker that lived shorter than this is restarted after a pause. */
const SHORT_LIFE_MS = 10_000;
const PAUSE_MS = 1000;

/** How long a scrape waits for a worker. */
const FIGURES_WAIT_MS = 1000;

/** How often counters are collected without a scrape: a killed worker loses those since the last time. */
const FIGURES_EVERY_MS = 10_000;

type Exit = {code: number | null; signal: string | null};

const send = (worker: Worker, message: SupervisorMessage): void => {
	if (worker.isConnected()) {
		// If the worker is gone, its exit event follows.
		worker.send(message, () => {});
	}
};

/** Resolves after the last messages of a process, which Node delivers after its `exit`. */
const afterLastMessage = (resolve: () => void): void => void setImmediate(() => setImmediate(resolve));

/**
 * Starts a worker. `ready` resolves when it serves, `exited` when it is gone for any reason, `left` after its last
 * message: Node emits no `disconnect` for a worker that is killed while a connection is in transit to it.
 */
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
	const left = new Promise<void>((resolve) => {
		worker.once('disconnect', resolve);
		worker.once('exit', () => afterLastMessage(resolve));
	});
	return {worker, exited, ready, left, since: performance.now()};
};

type Running = ReturnType<typeof startWorker>;

/** Collects a worker's counters as soon as it serves, and answers its requests for those of all. */
const shareFigures = async ({worker, ready, left}: Running, gathering: Gathering): Promise<void> => {
	await ready;
	const member = gathering.join((round, isScrape) => send(worker, {is: 'count', round, isScrape}));
	void left.then(member.left);
	worker.on('message', async (message: WorkerMessage) => {
		if (message.is === 'figures') {
			member.report(message.round, message.figures);
		} else if (message.is === 'scraped') {
			const figures = await gathering.gather(true);
			send(worker, {is: 'figures_of_all', request: message.request, figures});
		}
	});
};

/** Keeps a worker in the rotation from ready until its stop. */
const shareConnections = ({worker, left}: Running, handOver: HandOver): void => {
	worker.on('message', ({is}: WorkerMessage) => {
		if (is === 'ready') {
			handOver.join(worker);
		} else if (is === 'taken') {
			handOver.taken(worker);
		} else if (is === 'leaving') {
			handOver.leave(worker);
			// Arrives after its last connection.
			send(worker, {is: 'stop'});
		}
	});
	void left.then(() => handOver.ended(worker));
};

/** Carries a worker's texts to the others, whether PostgreSQL is there or not. */
const shareLine = ({worker}: Running, workers: ReadonlySet<Running>): void => {
	worker.on('message', (message: WorkerMessage) => {
		if (message.is === 'line') {
			for (const other of workers) {
				if (other.worker !== worker) {
					send(other.worker, message);
				}
			}
		}
	});
};

/** Lets a worker that serves wait for the clicks of the others, and they for its own. */
const shareClicks = async (
	{worker, ready, left}: Running,
	clicks: ReturnType<typeof createClicksOfWorkers>,
): Promise<void> => {
	await ready;
	const member = clicks.join((message) => send(worker, message));
	void left.then(member.left);
	worker.on('message', (message: WorkerMessage) => {
		if (message.is === 'clicks') {
			void member.receive(message);
		}
	});
};

/** Decides a worker's checks of limits. */
const shareLimits = ({worker}: Running, limiter: Limiter): void => {
	worker.on('message', async (message: WorkerMessage) => {
		if (message.is === 'limits') {
			send(worker, await decideForWorker(limiter, message));
		}
	});
};

type Options = {
	/** The address to listen on. */
	address: ListenAddress;
	/** Number of serving processes. */
	count: number;
	/** Most connections that wait for a worker. */
	maxWaiting: number;
	log: Logger;
	/** Keeps the windows of all workers, so that limits hold across them, and when one is replaced. */
	limiter: Limiter;
	/** Called with the port when all workers answer. */
	onReady: (port: number) => Promise<void>;
	/** Resolves when the installation must stop, with the exit code of a stop before any worker is ready. */
	stopped: Promise<number>;
	/** Seconds for workers to stop; then they are killed. */
	stopSeconds: number;
};

/**
 * Listens, and runs workers that serve until `stopped`. Each worker is independent: one that dies is replaced while the
 * others serve. The first is started alone, so that a startup error is reported once.
 * @returns the exit code: 0 after it served, else that of the stop or of the first worker. @throws if the port is in
 * use.
 */
export const supervise = async ({
	address,
	count,
	maxWaiting,
	log,
	limiter,
	onReady,
	stopped,
	stopSeconds,
}: Options): Promise<number> => {
	const workers = new Set<Running>();
	const gathering = createGathering({workers: count, waitMs: FIGURES_WAIT_MS});
	const clicks = createClicksOfWorkers();
	const handOver = createHandOver({maxWaiting});
	const port = await listenAt(handOver.listener, address);
	setInterval(() => void gathering.gather(false), FIGURES_EVERY_MS).unref();
	let stopping = false;
	void stopped.then(() => {
		stopping = true;
	});

	const start = (): Running => {
		const running = startWorker(port);
		workers.add(running);
		shareLimits(running, limiter);
		void shareFigures(running, gathering);
		void shareClicks(running, clicks);
		shareLine(running, workers);
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
		handOver.hold();
		await closeListener(handOver.listener);
		handOver.finish();
		const leaving = [...workers];
		for (const {worker} of leaving) {
			send(worker, {is: 'stop'});
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
		await onReady(port);
		send(first.worker, {is: 'welcome'});
		// Workers that ended before the others served.
		for (let missing = count - workers.size; missing > 0; missing -= 1) {
			start();
		}
	}

	const early = await stopped;
	await stop();
	return outcome === null ? early : 0;
};
