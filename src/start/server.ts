import {createServer, type RequestListener} from 'node:http';
import type {Logger} from 'pino';
import type {Clock} from '../clock.ts';
import type {Config} from '../config/config.ts';
import type {Db} from '../db/db.ts';
import {watchConnections} from '../http/connections.ts';
import {type Entrance, ownPort} from '../http/entrance.ts';
import {connectionsWithin} from '../http/open-files.ts';
import type {Limiter} from '../limits/limiter.ts';
import {inFrontOf} from '../resolution/hot-path.ts';
import {createServices, type Services} from '../services.ts';
import {createLateParts} from './late-parts.ts';

/** A service that answers requests, until it is stopped. */
export type RunningService = {
	services: Services;
	/** Base URL of this machine's listener. */
	url: string;
	/** Refuses new connections, finishes what is under way for at most `shutdownTimeoutSeconds`, lets go of the rest. */
	stop(): Promise<void>;
};

/**
 * For each connection. A request as a whole has no limit, because an import may take long; a body that is read at once has
 * one of its own (body.ts). Who sends a head slowly, or nothing, is looked for every few seconds.
 */
const TIMEOUTS = {
	requestTimeout: 0,
	headersTimeout: 20_000,
	keepAliveTimeout: 65_000,
	connectionsCheckingInterval: 5000,
};

/** How long a connection may be without a byte in either direction while a request is under way. */
const SILENT_MS = 300_000;

type Parts = {
	config: Config;
	clock: Clock;
	log: Logger;
	adminToken: string;
	openDb: () => Promise<Db>;
	/** Where connections come from; the configured port of this process unless it is said. */
	entrance?: Entrance;
	figuresOfAll?: Services['figuresOfAll'];
	/** Absent: this process is alone on its machine. */
	limiterOfAll?: Limiter;
};

/**
 * Opens the database, and lets requests in when it is there: until then the port refuses them, so that a load balancer
 * or a proxy goes elsewhere or tries again, and nobody gets an answer from a service that cannot work yet.
 */
export const startService = async ({
	config,
	clock,
	log,
	adminToken,
	openDb,
	entrance = ownPort(config),
	figuresOfAll = null,
	limiterOfAll,
}: Parts): Promise<RunningService> => {
	const db = await openDb();
	const server = createServer(TIMEOUTS).setTimeout(SILENT_MS);
	const max = connectionsWithin(config.maxConnections);
	if (max < config.maxConnections) {
		log.warn({connections: max}, 'MAX_CONNECTIONS is more than the limit of open files (ulimit -n) allows');
	}

	const connections = watchConnections(server, {max, log});
	// Services know their port, so that it is bound a moment before they are there: requests of that moment wait for them.
	const early: Array<Parameters<RequestListener>> = [];
	let answer: RequestListener = (...exchange) => {
		early.push(exchange);
	};
	server.on('request', (request, response) => {
		connections.watch(request, response);
		answer(request, response);
	});
	const port = await entrance.open(server);
	try {
		const services = createServices({config, port, db, clock, log, adminToken, figuresOfAll, limiterOfAll});
		await services.clickJournal.start();
		const late = createLateParts(services);
		answer = inFrontOf(services, late.answer, () => !late.isLoaded());
		for (const exchange of early) {
			answer(...exchange);
		}

		late.loadSoon();
		return {
			services,
			url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
			stop: async () => {
				late.stop();
				services.clickStream.close();
				await connections.finish(entrance, config.shutdownTimeoutSeconds);
				await services.close();
			},
		};
	} catch (error) {
		server.close();
		server.closeAllConnections();
		throw error;
	}
};
