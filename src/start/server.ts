import {createServer, type RequestListener} from 'node:http';
import {requireFreeAliases} from '../links/domains/domain-store.ts';
import {addressesOf, ConfigError} from '../platform/config/config.ts';
import {connectionsWithin, watchConnections} from '../platform/http/connections.ts';
import {type Entrance, listenerUrl, ownPort} from '../platform/http/entrance.ts';
import {LinkPolicy} from '../platform/policy/link-policy.ts';
import {createServices, type ServiceOptions, type Services} from '../services.ts';
import {Door} from '../visits/resolution/door.ts';
import {LazyApp} from './lazy-app.ts';

/** A running service, until it is stopped. */
export type RunningService = {
	services: Services;
	/** Base URL of this machine's listener. */
	url: string;
	/** Refuses new connections, finishes requests and background work for at most `shutdownTimeoutSeconds`. */
	stop(): Promise<void>;
};

/**
 * Per connection. A request has no limit of time, because an import may take long; `src/platform/http/body.ts`
 * limits the time of a buffered body. Connections with a slow or missing head are checked every few seconds.
 */
const TIMEOUTS = {
	requestTimeout: 0,
	headersTimeout: 20_000,
	keepAliveTimeout: 65_000,
	connectionsCheckingInterval: 5000,
};

/** How long a connection may be idle in both directions during a request. */
const IDLE_MS = 300_000;

type Parts = Omit<ServiceOptions, 'port'> & {
	/** The source of connections; by default the configured port of this process. */
	entrance?: Entrance;
};

/**
 * Accepts requests, with a database that is open already: until then the port refuses connections, because a load
 * balancer or proxy then asks another server or retries.
 */
export const startService = async ({entrance: given, ...options}: Parts): Promise<RunningService> => {
	const {config, db, log} = options;
	const entrance = given ?? ownPort(config);
	const server = createServer(TIMEOUTS).setTimeout(IDLE_MS);
	const max = connectionsWithin(config.maxConnections);
	if (max < config.maxConnections) {
		log.warn({connections: max}, 'MAX_CONNECTIONS is more than the limit of open files (ulimit -n) allows');
	}

	const connections = watchConnections(server, {max, log});
	const waiting: Array<Parameters<RequestListener>> = [];
	const wait: RequestListener = (...exchange) => void waiting.push(exchange);
	// Services need the port, so it is bound before they exist. Requests that arrive in between wait.
	let answer = wait;
	const answerBy = (listener: RequestListener): void => {
		answer = listener;
		for (const exchange of waiting.splice(0)) {
			answer(...exchange);
		}
	};
	server.on('request', (request, response) => {
		connections.watch(request, response);
		answer(request, response);
	});
	// Node would answer an unknown Expect by a bare 417; RFC 9110, 10.1.1 lets us ignore it.
	server.on('checkExpectation', (request, response) => server.emit('request', request, response));
	const port = await entrance.open(server);
	try {
		await requireFreeAliases(db, addressesOf(config, port).aliases);
		const linkPolicy = await LinkPolicy.open(config.linkPolicyFile, options.log);
		if (linkPolicy.faults().length > 0) {
			throw new ConfigError(linkPolicy.faults().map((fault) => `LINK_POLICY_FILE could not be used: ${fault}`));
		}

		const services = createServices({...options, port, linkPolicy});
		await services.clickJournal.start();
		const lazyApp = new LazyApp(services);
		answerBy(new Door(services, lazyApp.answer).listener);
		lazyApp.loadSoon();
		return {
			services,
			url: listenerUrl({host: config.host, port}),
			stop: async () => {
				const ends = performance.now() + config.shutdownTimeoutSeconds * 1000;
				lazyApp.stop();
				services.clickStream.close();
				// A client may open another connection once it has its answer, so answers pause while the entrance closes.
				const listener = answer;
				answer = wait;
				await entrance.close();
				const finished = connections.finish(config.shutdownTimeoutSeconds);
				answerBy(listener);
				await finished;
				await services.close(Math.max(0, ends - performance.now()));
			},
		};
	} catch (error) {
		server.close();
		server.closeAllConnections();
		throw error;
	}
};
