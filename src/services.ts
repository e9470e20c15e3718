import type {Logger} from 'pino';
import {createDisplayKeyCipher} from './api-keys/display-key-cipher.ts';
import {createKeyCache} from './auth/key-cache.ts';
import {createSessionVerifier} from './auth/session.ts';
import {createBackground} from './background.ts';
import type {Gateways} from './billing/gateways.ts';
import {createPaymob} from './billing/paymob/paymob.ts';
import {createPaymobGateway} from './billing/paymob/paymob-gateway.ts';
import {createStripe} from './billing/stripe/stripe-client.ts';
import {createStripeGateway} from './billing/stripe/stripe-gateway.ts';
import {createClickPartitions} from './clicks/click-partitions.ts';
import type {ClickStore} from './clicks/click-store.ts';
import {createClickStream} from './clicks/click-stream.ts';
import {createClickHouseRows} from './clicks/clickhouse/click-table.ts';
import {createClickHouse} from './clicks/clickhouse/clickhouse.ts';
import {createClickHouseClicks} from './clicks/clickhouse/clickhouse-clicks.ts';
import {readClickHouseUrl} from './clicks/clickhouse/clickhouse-url.ts';
import {createClickJournal} from './clicks/journal/click-journal.ts';
import {postgresClicks} from './clicks/postgres-clicks.ts';
import {createRelayRanges} from './clicks/relay-ranges.ts';
import type {Clock} from './clock.ts';
import {addressesOf, type Config} from './config/config.ts';
import {createChangeFeed} from './db/change-feed.ts';
import type {Db} from './db/db.ts';
import {createRedisLine} from './db/redis-line.ts';
import type {VerifiedDomain} from './domains/domain-store.ts';
import {createTxtResolver} from './domains/txt-resolver.ts';
import {createUnknownCodes} from './domains/unknown-codes.ts';
import {createClientIp} from './http/client-ip.ts';
import {createHostRoles} from './http/request-host.ts';
import {createProviderClient} from './identity/provider-client.ts';
import type {Limiter} from './limits/limiter.ts';
import {createRefusals} from './limits/refusals.ts';
import {createWindows} from './limits/windows.ts';
import {createFollowUps} from './match/follow-ups.ts';
import {createMatchPeppers} from './match/match-peppers.ts';
import {createPhoneBook} from './match/phone-book.ts';
import {createMetrics} from './metrics/metrics.ts';
import {watchEventLoop} from './metrics/process-metrics.ts';
import {createAssociationCache} from './resolution/association-cache.ts';
import {createErrorPages} from './resolution/error-page-senders.ts';
import {createHostCache, createLinkCache} from './resolution/link-cache.ts';
import {createPageTemplates} from './resolution/page-templates.ts';
import {isCurrent, type ResolvedRow} from './resolution/resolved-row.ts';
import {rowBytes} from './resolution/row-bytes.ts';
import {createEventWriter} from './sdk/sdk-store.ts';
import type {OtherWorkers} from './start/other-workers.ts';
import {createTurns} from './turns.ts';

export type ServiceOptions = {
	port: number;
	db: Db;
	config: Config;
	clock: Clock;
	log: Logger;
	adminToken: string;
	/** Absent if this process is the only one of this machine. */
	otherWorkers?: OtherWorkers;
};

/** The dependencies of operations and routes. Created once per process, here only. */
export type Services = ReturnType<typeof createServices>;

export const createServices = (options: ServiceOptions) => {
	const {config, port, db, clock, log, adminToken, otherWorkers} = options;
	const addresses = addressesOf(config, port);
	const limiter: Limiter = otherWorkers?.limiter ?? createWindows({redisUrl: config.redisUrl, clock, log});
	const background = createBackground(log);
	const refusals = createRefusals({db, clock, background});
	const eventLoop = watchEventLoop();
	const changes = createChangeFeed({
		db,
		log,
		// Through Redis all machines can be reached.
		line: config.redisUrl === null ? (otherWorkers?.line ?? null) : createRedisLine(config.redisUrl),
	});
	const clickPartitions = createClickPartitions(db);
	const clickHouse = config.clicksUrl === null ? null : createClickHouse(readClickHouseUrl(config.clicksUrl));
	const clickJournal = createClickJournal({
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
					flushed: (mentioned) => clickJournal.flushed({mentioned, sink: 'clickHouse'}),
				});
	const stripe = config.stripe === null ? null : createStripe(config.stripe);
	const {publicUrl} = addresses;
	const returnUrl = config.billingReturnUrl ?? publicUrl;
	const paymob = createPaymob({config, db, clock, log, publicUrl, returnUrl});

	const gateways: Gateways = {
		GATEWAY_A: stripe === null ? null : createStripeGateway({stripe, plans: config.plans, returnUrl}),
		GATEWAY_B: paymob === null ? null : createPaymobGateway(paymob),
	};
	const phoneBook = createPhoneBook(db);
	const metrics = createMetrics(clock);

	return Object.freeze({
		config,
		addresses,
		adminToken,
		clock,
		log,
		db,
		limiter,
		/** Changes by other processes and this one. */
		changes,
		linkCache: createLinkCache<ResolvedRow>(changes, {
			megabytes: config.linkCacheMegabytes,
			bytesOf: rowBytes,
			isCurrent: (row) => isCurrent(row, clock.now()),
		}),
		keyCache: createKeyCache(changes),
		pageTemplates: createPageTemplates({addresses}),
		hostCache: createHostCache<VerifiedDomain>(changes),
		associationCache: createAssociationCache({changes, clock, config, db, log}),
		clientIp: createClientIp([...config.trustedProxies]),
		hostRoles: createHostRoles(addresses),
		verifySession: createSessionVerifier(config, clock),
		provider: createProviderClient({apiUrl: config.idp.apiUrl, apiKey: config.idp.apiKey, log}),
		/** Serialized writes of mirrored users, organizations and memberships, see `inMirror`. */
		mirrorTurns: createTurns(),
		/** Stripe's library; null if Stripe is off. */
		stripe,
		/** The dependencies of Paymob's code; null if Paymob is off. */
		paymob,
		gateways,
		keyCipher: createDisplayKeyCipher(config.keySecret, log),
		/** Clicks of the last 30 days by link, for lists of links. */
		linkClicks: async (organizationId: string, linkIds: readonly string[]): Promise<ReadonlyMap<string, number>> =>
			(await import('./clicks/link-clicks.ts')).countLinkClicks(
				{clickJournal, clicks, clock, db},
				organizationId,
				linkIds,
			),
		unknownCodes: createUnknownCodes({db, background}),
		errorPages: createErrorPages(changes, db),
		resolveTxt: createTxtResolver(config.dnsServers),
		clickPartitions,
		clickJournal,
		/** Raw clicks, wherever they are stored. */
		clicks,
		clickStream: createClickStream({db, clock, log, background, clicks}),
		matchPeppers: createMatchPeppers(db),
		relayRanges: createRelayRanges(config.relayRangesFile, log),
		phoneBook,
		/** What matches leave to do after their answers. */
		followUps: createFollowUps({db, phoneBook, metrics}),
		eventWriter: createEventWriter(db),
		background,
		metrics,
		refusals,
		/** The figures of all processes of this machine; null if this one is alone. */
		figuresOfAll: otherWorkers?.figures ?? null,
		eventLoop,
		/** Waits for background work and closes what was opened here; the caller closes the database. */
		close: async (): Promise<void> => {
			refusals.close();
			background.run('record refusals by limits', refusals.settled());
			await background.settle();
			await clickJournal.close();
			await changes.close();
			await limiter.close();
			eventLoop.stop();
		},
	});
};
