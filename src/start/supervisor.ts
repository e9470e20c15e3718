import cluster, {type Worker} from 'node:cluster';
import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {createFigureCollector, type FigureCollector} from '../operations/metrics/gather-figures.ts';
import {splitEnvFiles} from '../platform/config/describe-config.ts';
import type {Secrets} from '../platform/config/secrets.ts';
import {closeListener, type ListenAddress, listenAt} from '../platform/http/entrance.ts';
import type {Limiter} from '../platform/limits/limiter.ts';
import {decideForWorker} from '../platform/limits/worker-limiter.ts';
import {HandOver} from './hand-over.ts';
import type {SupervisorMessage, WorkerMessage} from './supervisor-channel.ts';
import {createClicksOfWorkers} from './worker-clicks.ts';

/** A worker that lived shorter than this is restarted after a pause. */
const SHORT_LIFE_MS = 10_000;
const PAUSE_MS = 1000;

/** How long a scrape waits for a worker. */
const FIGURES_WAIT_MS = 1000;

/** How often counters are collected without a scrape: a killed worker loses its counts since the last time. */
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
const startWorker = (port: number, {known}: Secrets) => {
	// No secret is in the environment of a process, which others may read; nor does a worker read a file again.
	cluster.setupPrimary({execArgv: splitEnvFiles(process.execArgv).others});
	const withoutSecrets = Object.fromEntries([...known.keys()].map((name) => [name, undefined]));
	const worker = cluster.fork({...withoutSecrets, PORT: String(port)});
	const exited = new Promise<Exit>((resolve) => {
		worker.once('exit', (code, signal) => resolve({code, signal}));
	});
	const ready = new Promise<true>((resolve) => {
		worker.on('message', (message: WorkerMessage) => {
			if (message.type === 'ready') {
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

type RunningWorker = ReturnType<typeof startWorker> & {
	/** The worker as a source of figures, once it serves. */
	figures?: ReturnType<FigureCollector['join']>;
	clicks?: ReturnType<ReturnType<typeof createClicksOfWorkers>['join']>;
};

type Options = {
	address: ListenAddress;
	count: number;
	/** Maximum connections that wait for a worker. */
	maxWaiting: number;
	log: Logger;
	secrets: Secrets;
	/** Keeps the windows of all workers, so limits hold across them, and when one is replaced. */
	limiter: Limiter;
	onReady: (port: number) => Promise<void>;
	/** Resolves when the installation must stop, with the exit code of a stop before any worker is ready. */
	stopped: Promise<number>;
	/** Seconds for workers to stop; then they are killed. */
	stopSeconds: number;
};

/**
 * Listens, and runs workers that serve until `stopped`. Each worker is independent: one that dies is replaced while the
 * others serve. The first is started alone, because a startup error must be reported once.
 */
export class Supervisor {
	readonly #options: Options;
	readonly #workers = new Set<RunningWorker>();
	readonly #gathering: FigureCollector;
	readonly #clicks = createClicksOfWorkers();
	readonly #handOver: HandOver;
	#port = 0;
	/** Whether workers that end are replaced. */
	#isServing = false;
	#isStopping = false;

	constructor(options: Options) {
		this.#options = options;
		this.#gathering = createFigureCollector({workers: options.count, waitMs: FIGURES_WAIT_MS});
		this.#handOver = new HandOver({maxWaiting: options.maxWaiting});
	}

	/**
	 * @returns the exit code: 0 after it served, else that of the stop or of the first worker. @throws if the port is in
	 * use.
	 */
	async run(): Promise<number> {
		const {address, count, log, onReady, stopped} = this.#options;
		this.#port = await listenAt(this.#handOver.listener, address);
		setInterval(() => void this.#gathering.gather(false), FIGURES_EVERY_MS).unref();
		void stopped.then(() => {
			this.#isStopping = true;
		});
		const first = this.#start();
		const outcome = await Promise.race([first.ready, first.exited, stopped.then(() => null)]);
		if (outcome !== true && outcome !== null) {
			this.#handOver.listener.close();
			this.#handOver.finish();
			return outcome.code ?? 1;
		}

		if (!this.#isStopping) {
			const others = Array.from({length: count - 1}, () => this.#start());
			await Promise.race([Promise.all(others.map(({ready, exited}) => Promise.race([ready, exited]))), stopped]);
		}

		if (!this.#isStopping) {
			this.#isServing = true;
			log.info({workers: this.#workers.size}, 'all workers answer');
			await onReady(this.#port);
			send(first.worker, {type: 'welcome'});
			// Workers that ended before the others served.
			for (let missing = count - this.#workers.size; missing > 0; missing -= 1) {
				this.#start();
			}
		}

		const early = await stopped;
		await this.#stop();
		return outcome === null ? early : 0;
	}

	#start(): RunningWorker {
		const running: RunningWorker = startWorker(this.#port, this.#options.secrets);
		const {worker, left, exited} = running;
		this.#workers.add(running);
		worker.on('message', (message: WorkerMessage) => void this.#receive(running, message));
		void left.then(() => {
			running.figures?.left();
			running.clicks?.left();
			this.#handOver.ended(worker);
		});
		void exited.then((exit) => this.#replace(running, exit));
		return running;
	}

	async #receive(running: RunningWorker, message: WorkerMessage): Promise<void> {
		const {worker} = running;
		switch (message.type) {
			case 'starting':
				send(worker, {type: 'secrets', known: [...this.#options.secrets.known]});
				return;
			case 'ready':
				running.figures = this.#gathering.join((round, isScrape) => send(worker, {type: 'count', round, isScrape}));
				running.clicks = this.#clicks.join((request) => send(worker, request));
				this.#handOver.join(worker);
				return;
			case 'taken':
				this.#handOver.taken(worker);
				return;
			case 'leaving':
				this.#handOver.leave(worker);
				// Arrives after its last connection.
				send(worker, {type: 'stop'});
				return;
			case 'line':
				for (const other of this.#workers) {
					if (other !== running) {
						send(other.worker, message);
					}
				}

				return;
			case 'clicks':
				await running.clicks?.receive(message);
				return;
			case 'limits':
				send(worker, await decideForWorker(this.#options.limiter, message));
				return;
			case 'figures':
				running.figures?.report(message.round, message.figures);
				return;
			case 'scraped':
				send(worker, {
					type: 'figures_of_all',
					request: message.request,
					figures: await this.#gathering.gather(true),
				});
		}
	}

	async #replace(running: RunningWorker, exit: Exit): Promise<void> {
		this.#workers.delete(running);
		if (this.#isStopping || !this.#isServing) {
			return;
		}

		this.#options.log.error(
			{worker: running.worker.process.pid, ...exit},
			'a worker ended; another one takes its place',
		);
		if (performance.now() - running.since < SHORT_LIFE_MS) {
			await delay(PAUSE_MS);
		}

		if (!this.#isStopping) {
			this.#start();
		}
	}

	async #stop(): Promise<void> {
		const deadline = setTimeout(() => {
			for (const {worker} of this.#workers) {
				worker.process.kill('SIGKILL');
			}
		}, this.#options.stopSeconds * 1000);
		this.#handOver.hold();
		await closeListener(this.#handOver.listener);
		this.#handOver.finish();
		const leaving = [...this.#workers];
		for (const {worker} of leaving) {
			send(worker, {type: 'stop'});
		}

		await Promise.all(leaving.map(({exited}) => exited));
		clearTimeout(deadline);
	}
}
