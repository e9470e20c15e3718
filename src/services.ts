import type {Logger} from 'pino';
import {createDisplayKeyCipher} from './accounts/api-keys/display-key-cipher.ts';
import {createKeyCache} from './accounts/api-keys/key-cache.ts';
import {createSessionVerifier} from './accounts/auth/session.ts';
import {createGateways} from './accounts/billing/create-gateways.ts';
import {createProviderClient} from './accounts/identity/provider-client.ts';
import {createOperatorProviders} from './accounts/tokens/operator-providers.ts';
import {AliasVisits} from './links/domains/alias-visits.ts';
import type {VerifiedDomain} from './links/domains/domain-store.ts';
import {createTxtResolver} from './links/domains/txt-resolver.ts';
import {createUnknownCodes} from './links/domains/unknown-codes.ts';
import {createAppRequests} from './platform/app-requests/app-requests.ts';
import {createBackground} from './platform/background.ts';
import {createClientIp} from './platform/client-ip.ts';
import type {Clock} from './platform/clock.ts';
import {addressesOf, type Config} from './platform/config/config.ts';
import {readClickHouseUrl} from './platform/config/database-url.ts';
import {createCountries} from './platform/countries.ts';
import {connectionsOf, type Db} from './platform/db/db.ts';
import {ChangeFeed} from './platform/db/feed/change-feed.ts';
import {createRedisLine} from './platform/db/feed/redis-line.ts';
import type {PeerLine} from './platform/db/feed/write-promises.ts';
import {createFairTurns} from './platform/fair-turns.ts';
import {createHostRoles} from './platform/http/request-host.ts';
import type {Limiter} from './platform/limits/limiter.ts';
import {createRefusals} from './platform/limits/refusals.ts';
import {createWindows} from './platform/limits/windows.ts';
import {createMetrics} from './platform/metrics/metrics.ts';
import type {Figures} from './platform/metrics/snapshot.ts';
import {watchEventLoop} from './platform/metrics/snapshot.ts';
import {LinkPolicy} from './platform/policy/link-policy.ts';
import {createRelayRanges} from './platform/relay-ranges.ts';
import {createSemaphore} from './platform/semaphore.ts';
import {within} from './platform/within.ts';
import {AbuseFigures} from './visits/abuse/abuse-figures.ts';
import {createAssociationCache} from './visits/association/association-cache.ts';
import {createClickHouseRows} from './visits/click-stores/clickhouse/click-table.ts';
import {createClickHouse} from './visits/click-stores/clickhouse/clickhouse.ts';
import {createClickHouseClicks} from './visits/click-stores/clickhouse/clickhouse-clicks.ts';
import {postgresClicks} from './visits/click-stores/postgres-clicks.ts';
import {createClickPartitions} from './visits/clicks/click-partitions.ts';
import {type ClickJournal, FileJournal, type Flush} from './visits/clicks/journal/click-journal.ts';
import {createFollowUps} from './visits/matches/follow-ups.ts';
import {createMatchPeppers} from './visits/matches/network-keys.ts';
import {createPhoneBook} from './visits/matches/phone-book.ts';
import {createPages} from './visits/page/pages.ts';
import type {ClickStore} from './visits/reports/click-store.ts';
import {ClickStream} from './visits/reports/stream/click-stream.ts';
import {createErrorPages} from './visits/resolution/error-page.ts';
import {createEventWriter} from './visits/sdk/sdk-store.ts';
import {createHostCache, LinkCache} from './visits/visit/link-cache.ts';
import {isCurrent, type ResolvedRow, rowBytes} from './visits/visit/resolved-row.ts';

/** The state that the workers of one machine share through their supervisor. */
export type OtherWorkers = {
	/** Counts the requests of all. */
	limiter: Limiter;
	/** The figures of all. @throws if the supervisor does not answer. */
	figures(): Promise<Figures>;
	/** Waits until the clicks of the others are drained. */
	clicksFlushed(flush: Flush): Promise<void>;
	/** Reaches the others while PostgreSQL is unavailable. */
	line: PeerLine;
};

export type ServiceOptions = {
	port: number;
	db: Db;
	config: Config;
	clock: Clock;
	log: Logger;
	adminToken: string;
	/** Absent if this process is the only one of this machine. */
	otherWorkers?: OtherWorkers;
	/** The lists of LINK_POLICY_FILE, which are read before the first write; absent: none. */
	linkPolicy?: LinkPolicy;
};

/** The dependencies of operations and routes. Created once per process, here only. */
export type Services = ReturnType<typeof createServices>;

export const createServices = (options: ServiceOptions) => {
	const {config, port, db, clock, log, adminToken, otherWorkers} = options;
	const addresses = addressesOf(config, port);
	const limiter: Limiter = otherWorkers?.limiter ?? createWindows({redisUrl: config.redisUrl, clock, log});
	const background = createBackground(log);
	const refusals = createRefusals({db, clock, background});
	const appRequests = createAppRequests({db, clock, background});
	const eventLoop = watchEventLoop();
	const changes = new ChangeFeed({
		db,
		log,
		// Through Redis all machines can be reached.
		line: config.redisUrl === null ? (otherWorkers?.line ?? null) : createRedisLine(config.redisUrl),
	});
	const clickPartitions = createClickPartitions(db);
	const clickHouse = config.clicksUrl === null ? null : createClickHouse(readClickHouseUrl(config.clicksUrl));
	const clickJournal: ClickJournal = new FileJournal({
		db,
		log,
		clickPartitions,
		dataDir: config.dataDir,
		maxBytes: config.journalMegabytes * 1024 * 1024,
		otherProcesses: otherWorkers?.clicksFlushed ?? null,
		clickHouse: clickHouse === null ? null : createClickHouseRows(clickHouse),
	});
	const clicks: ClickStore =
		clickHouse === null
			? postgresClicks
			: createClickHouseClicks({
					db,
					clickHouse,
					flushed: (containing) => clickJournal.flushed({containing, sink: 'clickHouse'}),
				});
	const phoneBook = createPhoneBook(db);
	const metrics = createMetrics(clock);
	const linkPolicy = options.linkPolicy ?? LinkPolicy.none();

	return Object.freeze({
		config,
		addresses,
		linkPolicy,
		/** The configuration that the schemas of bodies read. */
		bodyContext: {linkHosts: [addresses.linkDomain, ...addresses.aliases], linkPolicy},
		adminToken,
		clock,
		log,
		db,
		limiter,
		/** Changes by other processes and this one. */
		changes,
		linkCache: new LinkCache<ResolvedRow>(changes, {
			megabytes: config.linkCacheMegabytes,
			bytesOf: rowBytes,
			isCurrent: (row) => isCurrent(row, clock.now()),
		}),
		keyCache: createKeyCache(changes),
		pages: createPages({addresses, config}),
		hostCache: createHostCache<VerifiedDomain>(changes),
		associationCache: createAssociationCache({changes, clock, config, db, log}),
		clientIp: createClientIp([...config.trustedProxies]),
		hostRoles: createHostRoles(addresses),
		verifySession: createSessionVerifier(config, clock, log),
		operatorProviders: createOperatorProviders({providers: config.operatorProviders, clock, db, log}),
		provider: createProviderClient({apiUrl: config.idp.apiUrl, apiKey: config.idp.apiKey, log}),
		/** Serialized writes of mirrored users, organizations and memberships, see `inMirror`. */
		mirrorTurns: createSemaphore(),
		gateways: createGateways({config, db, clock, log, publicUrl: addresses.publicUrl}),
		keyCipher: createDisplayKeyCipher(config.keySecret, log),
		/** Clicks of the last 30 days by link, for lists of links. */
		linkClicks: async (organizationId: string, linkIds: readonly string[]): Promise<ReadonlyMap<string, number>> =>
			(await import('./visits/reports/stats/link-clicks.ts')).countLinkClicks(
				{clickJournal, clicks, clock, db},
				organizationId,
				linkIds,
			),
		unknownCodes: createUnknownCodes({db, background}),
		aliasVisits: new AliasVisits({db, background}),
		errorPages: createErrorPages(changes, db),
		resolveTxt: createTxtResolver(config.dnsServers),
		clickPartitions,
		clickJournal,
		/** Raw clicks, wherever they are stored. */
		clicks,
		clickStream: new ClickStream({db, clock, log, background, clicks}),
		matchPeppers: createMatchPeppers(db),
		relayRanges: createRelayRanges(config.relayRangesFile, log),
		countries: createCountries(config.geoipFile, log),
		phoneBook,
		/** Work of matches after their answers. */
		followUps: createFollowUps({db, phoneBook, metrics}),
		eventWriter: createEventWriter(db),
		/** Bounds on concurrent long reads: the other requests keep connections, and slow exports do not delay reports. */
		longReads: {
			exports: createFairTurns({atOnce: 3, clock}),
			reports: createFairTurns({atOnce: 3, clock}),
			dryRuns: createFairTurns({atOnce: 2, clock}),
		},
		background,
		metrics,
		refusals,
		/** Figures of abuse, for operators. */
		abuseFigures: new AbuseFigures({clock, config, db, linkPolicy, log}),
		/** Requests of apps, for `oplink app status`. */
		appRequests,
		/** The figures of all processes of this machine; null if this one is alone. */
		figuresOfAll: otherWorkers?.figures ?? null,
		eventLoop,
		/** Waits at most `milliseconds` for background work and closes all services; the caller closes the database. */
		close: async (milliseconds: number): Promise<void> => {
			refusals.close();
			background.run('record refusals by limits', refusals.settled());
			appRequests.close();
			background.run('count requests of apps', appRequests.settled());
			await within(milliseconds, background.settle());
			const left = background.running();
			await clickJournal.close();
			await changes.close();
			await limiter.close();
			eventLoop.stop();
			if (left.length > 0) {
				log.warn({work: left}, 'the stop does not wait for background work any longer');
				connectionsOf(db).end();
			}
		},
	});
};
