import cluster from 'node:cluster';
import type {Socket} from 'node:net';
import {setFlagsFromString} from 'node:v8';
import type {Logger} from 'pino';
import {createClock} from '../clock.ts';
import {type Config, loadConfig} from '../config/config.ts';
import {migrateUp} from '../db/migrate.ts';
import {asOperatorError, type OpenDatabase, openDatabase, requireWritable} from '../db/open-database.ts';
import {welcome} from '../demo/welcome.ts';
import {type Entrance, handedOver} from '../http/entrance.ts';
import type {Limiter} from '../limits/limiter.ts';
import {limitsChannel} from '../limits/limits-channel.ts';
import {createSupervisorWindows} from '../limits/supervisor-windows.ts';
import {createWorkerLimiter} from '../limits/worker-limiter.ts';
import {createQuestions} from '../metrics/ask-supervisor.ts';
import {readFigures, scrapeFigures} from '../metrics/read-figures.ts';
import type {Services} from '../services.ts';
import {readAdminToken} from './admin-token.ts';
import {createFaultSampler} from './fault-sampler.ts';
import {createLog, logProcessWarnings} from './log.ts';
import {requireFreePort} from './port.ts';
import {type RunningService, startService} from './server.ts';
import {supervise} from './supervisor.ts';
import type {SupervisorMessage, WorkerMessage} from './supervisor-messages.ts';

/** Seconds that workers get beyond those for requests under way: for the journal, and for closing connections. */
const WORKER_GRACE_SECONDS = 5;

/**
 * V8 lets old objects come to several times of those that are alive before it collects them: under load that was some 50 MB more,
 * at the same CPU a page. At half as much again the process stays small. Not before the script is loaded, because what
 * was compiled is for V8's own flags.
 */
const HEAP_GROWTH = '--heap-growing-percent=50';

const nextSignal = (): Promise<NodeJS.Signals> =>
	new Promise((resolve) => {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) {
			process.once(signal, () => resolve(signal));
		}
	});

type Server = {running: RunningService; closeDatabase(): Promise<void>};

type OfWorker = {entrance?: Entrance; figuresOfAll?: Services['figuresOfAll']; limiterOfAll?: Limiter};

/** Starts to answer over a database that `open` gives. Where that fails the database is let go of. */
const start = async (
	config: Config,
	log: Logger,
	open: () => Promise<OpenDatabase>,
	ofWorker: OfWorker = {},
): Promise<Server> => {
	let close = async (): Promise<void> => {};
	const running = await startService({
		config,
		clock: createClock(config.clockOffsetSeconds),
		log,
		adminToken: await readAdminToken(config),
		openDb: async () => {
			const database = await open();
			close = database.close;
			return database.db;
		},
		...ofWorker,
	}).catch(async (error: unknown) => {
		await close();
		throw error;
	});
	return {running, closeDatabase: () => close()};
};

/** The database as the one server of its folder, with all migrations. */
const openMigrated = async (config: Config, log: Logger): Promise<OpenDatabase> => {
	const database = await openDatabase(config, log, {exclusive: true});
	try {
		await requireWritable(database.db);
		const applied = await migrateUp(database.db, log);
		log.info({applied}, 'migrations are up to date');
		return database;
	} catch (error) {
		await database.close();
		throw asOperatorError(error, config);
	}
};

const stopOn = (signal: NodeJS.Signals, log: Logger): void => {
	log.info({signal}, 'stopping');
	void nextSignal().then(() => process.exit(1));
};

/** One process that answers. */
const serveAlone = async (config: Config, log: Logger): Promise<number> => {
	const signal = nextSignal();
	await requireFreePort(config);
	const {running, closeDatabase} = await start(config, log, () => openMigrated(config, log));
	log.info({url: running.url}, 'ready');
	await welcome(running.services, config.demo);
	stopOn(await signal, log);
	await running.stop();
	await closeDatabase();
	log.info('stopped');
	return 0;
};

/** Holds the database for its workers, which answer. */
const serveByWorkers = async (config: Config, log: Logger): Promise<number> => {
	const signal = nextSignal();
	await requireFreePort(config);
	await readAdminToken(config);
	const database = await openMigrated(config, log);
	const windows = createSupervisorWindows({
		redisUrl: config.redisUrl,
		clock: createClock(config.clockOffsetSeconds),
		log,
		processes: config.workers,
	});
	const exitCode = await supervise({
		place: config,
		count: config.workers,
		maxWaiting: config.maxConnections,
		log,
		windows,
		stopped: signal.then((name) => stopOn(name, log)),
		stopSeconds: config.shutdownTimeoutSeconds + WORKER_GRACE_SECONDS,
	}).finally(async () => {
		await windows.close();
		await database.close();
	});
	log.info('stopped');
	return exitCode;
};

/** Resolves when the message is written, or cannot be. */
const tellSupervisor = (message: WorkerMessage): Promise<void> =>
	new Promise((resolve) => {
		process.send?.(message, undefined, undefined, () => resolve());
	});

/** The channel to the supervisor keeps a worker while it serves, and must not keep one that does not. */
const letGo = (): void => process.channel?.unref();

/** What a supervisor asks of its worker, from the first moment: a message that nobody listens for is lost. */
const createOrders = () => {
	let onSocket: (socket: Socket) => void = (socket) => socket.destroy();
	let onOther: (message: SupervisorMessage) => void = () => {};
	const stopped = new Promise<void>((resolve) => {
		process.on('message', (message: SupervisorMessage, socket?: Socket) => {
			if (message.is === 'stop') {
				resolve();
			} else if (message.is === 'connection') {
				// Without a socket where the client has gone meanwhile.
				if (socket !== undefined) {
					onSocket(socket);
				}

				void tellSupervisor({is: 'taken'});
			} else {
				onOther(message);
			}
		});
	});
	return {
		stopped,
		takeSockets: (take: typeof onSocket): void => {
			onSocket = take;
		},
		hear: (hear: typeof onOther): void => {
			onOther = hear;
		},
	};
};

/** One of several processes: its supervisor stops it. A Ctrl-C of the terminal comes to all, and is the supervisor's. */
const serveAsWorker = async (config: Config, log: Logger): Promise<number> => {
	process.on('SIGINT', () => {});
	process.once('SIGTERM', () => void tellSupervisor({is: 'leaving'}));
	const orders = createOrders();
	let isReady = false;
	void orders.stopped.then(() => {
		// It has nothing to finish, and what it waits for may take long.
		if (!isReady) {
			process.exit(0);
		}
	});
	const questions = createQuestions((question) => void tellSupervisor({is: 'scraped', question}));
	const server = await start(config, log, () => openDatabase(config, log), {
		entrance: handedOver(config.port, orders.takeSockets),
		figuresOfAll: questions.figuresOfAll,
		limiterOfAll: createWorkerLimiter({
			channel: limitsChannel,
			clock: createClock(config.clockOffsetSeconds),
			processes: config.workers,
		}),
	}).catch((error: unknown) => {
		letGo();
		throw error;
	});
	const {services, url, stop} = server.running;
	isReady = true;
	let welcomed = Promise.resolve();
	orders.hear((message) => {
		if (message.is === 'welcome') {
			welcomed = welcome(services, config.demo).catch((error: unknown) => {
				log.warn({err: error}, 'could not make or show the demo organization');
			});
		} else if (message.is === 'count') {
			const {round, isScrape} = message;
			void tellSupervisor({is: 'figures', round, figures: (isScrape ? scrapeFigures : readFigures)(services)});
		} else if (message.is === 'figures_of_all') {
			questions.answered(message.question, message.figures);
		}
	});
	log.info({url, pid: process.pid}, 'ready');
	await tellSupervisor({is: 'ready'});
	await orders.stopped;
	await stop();
	await welcomed;
	// What it counted stays. Without a database it cannot be asked again.
	orders.hear(() => {});
	await tellSupervisor({is: 'figures', round: null, figures: readFigures(services)});
	await server.closeDatabase();
	letGo();
	return 0;
};

/**
 * `oplink serve`: runs until SIGINT or SIGTERM, then stops gracefully. A second signal ends it at once.
 * @returns the exit code. @throws ConfigError; what keeps it from starting.
 */
export const serve = async (env: NodeJS.ProcessEnv): Promise<number> => {
	setFlagsFromString(HEAP_GROWTH);
	const config = loadConfig(env, {isTerminal: process.stderr.isTTY});
	const sampler = createFaultSampler(createClock(config.clockOffsetSeconds));
	const log = createLog(config, sampler);
	logProcessWarnings(log);
	// However the process ends by itself: what is logged is written at once.
	process.once('exit', sampler.flush);
	if (cluster.isWorker) {
		return serveAsWorker(config, log);
	}

	for (const warning of config.warnings) {
		log.warn(warning);
	}

	return config.workers > 1 ? serveByWorkers(config, log) : serveAlone(config, log);
};
