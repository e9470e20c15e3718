import {createServer, type RequestListener, type Server, type ServerResponse} from 'node:http';
import {type AddressInfo, Server as NetServer} from 'node:net';
import {setTimeout as pause} from 'node:timers/promises';
import type {Logger} from 'pino';
import type {Clock} from './clock.ts';
import type {Config} from './config.ts';
import type {Db} from './db/db.ts';
import {notReady} from './errors.ts';
import {errorBody, rawPath, requestIdOf} from './http/envelope.ts';
import {createLateParts} from './late-parts.ts';
import {inFrontOf} from './resolution/hot-path.ts';
import {createServices, type Services} from './services.ts';

/** A service that answers requests, until it is stopped. */
export type RunningService = {
	services: Services;
	/** Base URL of this machine's listener. */
	url: string;
	/** Refuses new connections, finishes what is under way for at most `shutdownTimeoutSeconds`, lets go of the rest. */
	stop(): Promise<void>;
};

/** Node ends a request after 300 s, which is too short for an import; bodies of other routes have a limit of their own. */
const UNLIMITED = 0;

const starting =
	(clock: Clock): RequestListener =>
	(request, response) => {
		const error = notReady();
		const requestId = requestIdOf(request.headers['x-request-id']);
		response.writeHead(error.status, {
			'Content-Type': 'application/json; charset=utf-8',
			'X-Request-Id': requestId,
			Connection: 'close',
		});
		response.end(JSON.stringify(errorBody(error, {now: clock.now(), path: rawPath(request.url), requestId})));
	};

const listen = (server: Server, {host, port}: Config): Promise<number> =>
	new Promise((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, () => {
			server.removeListener('error', reject);
			resolve((server.address() as AddressInfo).port);
		});
	});

/**
 * A stop waits until no request has come for this part of its time, and at most for ten times that, before it ends idle
 * connections.
 */
const QUIET_PART = 1 / 50;
const PAUSE_MS = 5;

/**
 * Lets a server finish what is under way. Without this a keep-alive connection whose answer comes during the stop
 * would stay open, idle, until the deadline. One that seems idle may have a request on its way, or in the socket already:
 * those are answered, and told that the connection ends, before it does.
 */
const createDrain = (server: Server) => {
	const underWay = new Set<ServerResponse>();
	let stopping = false;
	let endsIdle = false;
	let lastCame = 0;
	return {
		watch: (response: ServerResponse): void => {
			lastCame = performance.now();
			response.shouldKeepAlive &&= !stopping;
			underWay.add(response);
			response.once('close', () => {
				underWay.delete(response);
				if (endsIdle) {
					setImmediate(() => server.closeIdleConnections());
				}
			});
		},
		finish: async (seconds: number): Promise<void> => {
			stopping = true;
			for (const response of underWay) {
				response.shouldKeepAlive = false;
			}

			const deadline = setTimeout(() => server.closeAllConnections(), seconds * 1000);
			let isClosed = false;
			// The `close` of an HTTP server would end idle connections at once.
			const closed = new Promise<void>((resolve) => {
				NetServer.prototype.close.call(server, () => {
					isClosed = true;
					resolve();
				});
			});
			const quietMs = seconds * 1000 * QUIET_PART;
			const end = performance.now() + 10 * quietMs;
			do {
				await pause(PAUSE_MS);
			} while (!isClosed && performance.now() - lastCame < quietMs && performance.now() < end);
			endsIdle = true;
			server.closeIdleConnections();
			await closed;
			clearTimeout(deadline);
		},
	};
};

type Parts = {
	config: Config;
	clock: Clock;
	log: Logger;
	adminToken: string;
	openDb: () => Promise<Db>;
	figuresOfAll?: Services['figuresOfAll'];
};

/**
 * Binds the port first, so that a taken one ends the start before anything else is touched, then opens the database
 * and answers. Requests that come before are told 503.
 */
export const startService = async ({
	config,
	clock,
	log,
	adminToken,
	openDb,
	figuresOfAll = null,
}: Parts): Promise<RunningService> => {
	const server = createServer({requestTimeout: UNLIMITED, headersTimeout: 60_000, keepAliveTimeout: 65_000});
	const wait = starting(clock);
	server.on('request', wait);
	const port = await listen(server, config);
	try {
		const db = await openDb();
		const services = createServices({config, port, db, clock, log, adminToken, figuresOfAll});
		await services.clickJournal.start();
		const late = createLateParts(services);
		const answer = inFrontOf(services, late.answer, () => !late.isLoaded());
		const drain = createDrain(server);
		server.removeListener('request', wait);
		server.on('request', (request, response) => {
			drain.watch(response);
			answer(request, response);
		});
		late.loadSoon();
		return {
			services,
			url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
			stop: async () => {
				late.stop();
				services.clickStream.close();
				await drain.finish(config.shutdownTimeoutSeconds);
				await services.close();
			},
		};
	} catch (error) {
		server.close();
		server.closeAllConnections();
		throw error;
	}
};
