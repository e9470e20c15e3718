import cluster from 'node:cluster';
import {setFlagsFromString} from 'node:v8';
import type {Logger} from 'pino';
import {welcome} from '../operations/demo/welcome.ts';
import {readFigures, scrapeFigures} from '../operations/metrics/read-figures.ts';
import {createClock} from '../platform/clock.ts';
import {type Config, loadConfig} from '../platform/config/config.ts';
import {readSecrets, type Secrets} from '../platform/config/secrets.ts';
import {secretNames} from '../platform/config/variables.ts';
import {connectionsOf, type Db} from '../platform/db/db.ts';
import {type OpenDatabase, openDatabase} from '../platform/db/open-database.ts';
import {makeDataDir} from '../platform/embedded/location.ts';
import {type Entrance, handedOver, listenerUrl, requireFreePort} from '../platform/http/entrance.ts';
import {createWindows} from '../platform/limits/windows.ts';
import {createKeyWatch} from '../platform/npm-interrupt.ts';
import type {OtherWorkers} from '../services.ts';
import {readAdminToken} from './admin-token.ts';
import {createFaultSampler, createLog, logProcessWarnings} from './log.ts';
import {
	DATABASE_GRACE_SECONDS,
	exitCodeOfStop,
	nextSignal,
	openUnlessStopped,
	STOPS,
	type Stop,
} from './open-unless-stopped.ts';
import {createOtherWorkers} from './other-workers.ts';
import {publishAddress} from './own-address.ts';
import {type RunningService, startService} from './server.ts';
import {Supervisor} from './supervisor.ts';
import {receiveCommands, releaseChannel, sendToSupervisor} from './supervisor-channel.ts';

/** The time that workers get in addition; then they are killed. */
const WORKER_GRACE_SECONDS = 8;

/** The time after a stop until the process ends, even if background work, such as a silent peer, keeps it alive. */
const LINGER_MS = 100;

/**
 * By default V8 lets the old generation grow to several times the live set. Capping its growth at 50 % saves about
 * 50 MB at no CPU cost. Set after the script is loaded, because its cached code depends on V8's flags.
 */
const HEAP_GROWTH = '--heap-growing-percent=50';

type WorkerOptions = {entrance?: Entrance; otherWorkers?: OtherWorkers};

/** Starts serving with the database, which is closed if that fails. */
const start = async (
	config: Config,
	log: Logger,
	{db, close}: OpenDatabase,
	options: WorkerOptions = {},
): Promise<RunningService> => {
	const clock = createClock(config.clockOffsetSeconds);
	try {
		return await startService({config, clock, log, adminToken: await readAdminToken(config), db, ...options});
	} catch (error) {
		await close();
		throw error;
	}
};

/** Ends all statements in time. Clicks that are not drained by then remain in the journal. */
const limitStop = ({shutdownTimeoutSeconds}: Config, db: Db): void => {
	setTimeout(() => connectionsOf(db).end(), (shutdownTimeoutSeconds + DATABASE_GRACE_SECONDS) * 1000).unref();
};

const stopOn = (signal: Stop, config: Config, log: Logger, db: Db): void => {
	log.info({signal}, 'stopping');
	limitStop(config, db);
	const isAnotherKey = createKeyWatch();
	for (const name of STOPS) {
		process.on(name, () => isAnotherKey() && process.exit(1));
	}
};

/** A migrated database, and the signal that stops its server. */
type ServerDatabase = {signal: Promise<Stop>; database: OpenDatabase; secrets: Secrets};

const serveAlone = async (config: Config, log: Logger, {signal, database}: ServerDatabase): Promise<number> => {
	const stopped = signal.then((name) => stopOn(name, config, log, database.db));
	const running = await start(config, log, database);
	log.info({url: running.url}, 'ready');
	await publishAddress(config.dataDir, running.url);
	await welcome(running.services, config.demo);
	await stopped;
	await running.stop();
	await database.close();
	log.info('stopped');
	return 0;
};

/** Keeps the database open for its workers, which serve. */
const serveByWorkers = async (
	config: Config,
	log: Logger,
	{signal, database, secrets}: ServerDatabase,
): Promise<number> => {
	const limiter = createWindows({redisUrl: config.redisUrl, clock: createClock(config.clockOffsetSeconds), log});
	const supervisor = new Supervisor({
		address: config,
		count: config.workers,
		maxWaiting: config.maxConnections,
		log,
		secrets,
		limiter,
		onReady: (port) => publishAddress(config.dataDir, listenerUrl({host: config.host, port})),
		stopped: signal.then((name) => {
			stopOn(name, config, log, database.db);
			return exitCodeOfStop[name];
		}),
		stopSeconds: config.shutdownTimeoutSeconds + WORKER_GRACE_SECONDS,
	});
	const exitCode = await supervisor.run().finally(async () => {
		await limiter.close();
		await database.close();
	});
	log.info('stopped');
	return exitCode;
};

/**
 * One of several processes, stopped by its supervisor. Ctrl-C in a terminal reaches all; only the supervisor reacts.
 */
const serveAsWorker = async (
	config: Config,
	log: Logger,
	commands: ReturnType<typeof receiveCommands>,
): Promise<number> => {
	process.on('SIGINT', () => {});
	process.once('SIGTERM', () => void sendToSupervisor({type: 'leaving'}));
	let isReady = false;
	void commands.stopped.then(() => {
		// A worker that is not ready has no requests to finish, and its start may take long.
		if (!isReady) {
			process.exit(0);
		}
	});
	const otherWorkers = createOtherWorkers(createClock(config.clockOffsetSeconds));
	const open = async () => {
		const database = await openDatabase(config, log);
		const entrance = handedOver(config.port, commands.takeSockets);
		return {database, running: await start(config, log, database, {entrance, otherWorkers})};
	};
	const {database, running} = await open().catch((error: unknown) => {
		releaseChannel();
		throw error;
	});
	const {services, url, stop} = running;
	isReady = true;
	let welcomed = Promise.resolve();
	commands.onMessage((message) => {
		if (message.type === 'welcome') {
			welcomed = welcome(services, config.demo).catch((error: unknown) => {
				log.warn({err: error}, 'could not create or show the demo organization');
			});
		} else if (message.type === 'count') {
			const {round, isScrape} = message;
			void (isScrape ? scrapeFigures : readFigures)(services).then((figures) =>
				sendToSupervisor({type: 'figures', round, figures}),
			);
		} else {
			otherWorkers.receive(message, services.clickJournal);
		}
	});
	log.info({url, pid: process.pid}, 'ready');
	await sendToSupervisor({type: 'ready'});
	await commands.stopped;
	limitStop(config, services.db);
	await stop();
	await welcomed;
	// The last report of its counters, which the supervisor keeps.
	commands.onMessage(() => {});
	await sendToSupervisor({type: 'figures', round: null, figures: await readFigures(services)});
	await database.close();
	releaseChannel();
	return 0;
};

/**
 * `oplink serve`: runs until SIGINT or SIGTERM, then stops gracefully. A second signal ends it at once.
 * @returns the exit code. @throws ConfigError; errors of the start.
 */
export const serve = async (env: NodeJS.ProcessEnv): Promise<number> => {
	setFlagsFromString(HEAP_GROWTH);
	const commands = cluster.isWorker ? receiveCommands() : null;
	const secrets = (await commands?.secrets) ?? readSecrets(env, secretNames);
	const config = loadConfig(env, {isTerminal: process.stderr.isTTY, secrets});
	const sampler = createFaultSampler(createClock(config.clockOffsetSeconds));
	const log = createLog(config, sampler);
	logProcessWarnings(log);
	// At any other exit, pending log lines are flushed.
	process.once('exit', sampler.flush);
	const ended = (exitCode: number): number => {
		setTimeout(() => process.exit(), LINGER_MS).unref();
		return exitCode;
	};
	if (commands !== null) {
		return ended(await serveAsWorker(config, log, commands));
	}

	for (const warning of config.warnings) {
		log.warn(warning);
	}

	const signal = nextSignal();
	await requireFreePort(config);
	// A token that cannot be written is reported before a database is created.
	await makeDataDir(config.dataDir);
	await readAdminToken(config);
	const database = await openUnlessStopped(config, log, signal);
	return ended(await (config.workers > 1 ? serveByWorkers : serveAlone)(config, log, {signal, database, secrets}));
};
