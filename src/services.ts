import type {Logger} from 'pino';
import type Stripe from 'stripe';
import {createDisplayKeyCipher, type DisplayKeyCipher} from './api-keys/display-key-cipher.ts';
import {createKeyCache, type KeyCache} from './auth/key-cache.ts';
import {createSessionVerifier, type SessionVerifier} from './auth/session.ts';
import {type Background, createBackground} from './background.ts';
import type {Gateways} from './billing/gateways.ts';
import {createPaymob, type Paymob} from './billing/paymob/paymob.ts';
import {createPaymobGateway} from './billing/paymob/paymob-gateway.ts';
import {createStripe} from './billing/stripe/stripe-client.ts';
import {createStripeGateway} from './billing/stripe/stripe-gateway.ts';
import {type ClickPartitions, createClickPartitions} from './clicks/click-partitions.ts';
import type {ClickStore} from './clicks/click-store.ts';
import {type ClickStream, createClickStream} from './clicks/click-stream.ts';
import {createRawStore} from './clicks/clickhouse/click-table.ts';
import {createClickHouse} from './clicks/clickhouse/clickhouse.ts';
import {createClickHouseClicks} from './clicks/clickhouse/clickhouse-clicks.ts';
import {readClickHouseUrl} from './clicks/clickhouse/clickhouse-url.ts';
import {type ClickJournal, createClickJournal} from './clicks/journal/click-journal.ts';
import {postgresClicks} from './clicks/postgres-clicks.ts';
import {createRelayRanges, type RelayRanges} from './clicks/relay-ranges.ts';
import type {Clock} from './clock.ts';
import {type Addresses, addressesOf, type Config} from './config/config.ts';
import {type ChangeFeed, createChangeFeed} from './db/change-feed.ts';
import type {Db} from './db/db.ts';
import {createRedisLine} from './db/redis-line.ts';
import type {WholeCache} from './db/whole-cache.ts';
import type {VerifiedDomain} from './domains/domain-store.ts';
import {createTxtResolver, type TxtResolver} from './domains/txt-resolver.ts';
import {createUnknownCodes, type UnknownCodes} from './domains/unknown-codes.ts';
import {createClientIp} from './http/client-ip.ts';
import {createHostRoles} from './http/request-host.ts';
import {createProviderClient, type ProviderClient} from './identity/provider-client.ts';
import type {Limiter} from './limits/limiter.ts';
import {createRefusals, type Refusals} from './limits/refusals.ts';
import {createOwnLimiter} from './limits/windows.ts';
import type {LinkWriter} from './links/link-writer.ts';
import {createFollowUps, type FollowUps} from './match/follow-ups.ts';
import {createMatchPeppers, type MatchPeppers} from './match/match-peppers.ts';
import {createPhoneBook, type PhoneBook} from './match/phone-book.ts';
import type {Figure} from './metrics/instruments.ts';
import {createMetrics, type Metrics} from './metrics/metrics.ts';
import {watchEventLoop} from './metrics/process-metrics.ts';
import {type AssociationCache, createAssociationCache} from './resolution/association-cache.ts';
import {createErrorPages, type ErrorPages} from './resolution/error-page-senders.ts';
import {createHostCache, createLinkCache, type LinkCache} from './resolution/link-cache.ts';
import {isCurrent, type LinkRow} from './resolution/link-row.ts';
import {createPageTemplates, type PageTemplates} from './resolution/page-templates.ts';
import {rowBytes} from './resolution/row-bytes.ts';
import {createEventWriter, type EventWriter} from './sdk/sdk-store.ts';
import type {OtherWorkers} from './start/other-workers.ts';
import {createTurns, type Turns} from './turns.ts';

/** The dependencies of operations and routes. Created once per process, here only. */
export type Services = Readonly<{
	config: Config;
	addresses: Addresses;
	adminToken: string;
	clock: Clock;
	log: Logger;
	db: Db;
	limiter: Limiter;
	/** Changes by other processes and this one. */
	changes: ChangeFeed;
	linkCache: LinkCache<LinkRow>;
	keyCache: KeyCache;
	pageTemplates: PageTemplates;
	hostCache: WholeCache<VerifiedDomain | null>;
	associationCache: AssociationCache;
	clientIp: ReturnType<typeof createClientIp>;
	hostRoles: ReturnType<typeof createHostRoles>;
	verifySession: SessionVerifier;
	provider: ProviderClient;
	/** Serialized writes of mirrored users, organizations and memberships, see `inMirror`. */
	mirrorTurns: Turns;
	/** Stripe's library; null if Stripe is off. */
	stripe: Stripe | null;
	/** The dependencies of Paymob's code; null if Paymob is off. */
	paymob: Paymob | null;
	gateways: Gateways;
	keyCipher: DisplayKeyCipher;
	resolveTxt: TxtResolver;
	unknownCodes: UnknownCodes;
	errorPages: ErrorPages;
	clickPartitions: ClickPartitions;
	clickJournal: ClickJournal;
	/** Raw clicks, wherever they are stored. */
	clicks: ClickStore;
	clickStream: ClickStream;
	matchPeppers: MatchPeppers;
	relayRanges: RelayRanges;
	phoneBook: PhoneBook;
	/** What matches leave to do after their answers. */
	followUps: FollowUps;
	eventWriter: EventWriter;
	linkWriter: LinkWriter;
	background: Background;
	metrics: Metrics;
	refusals: Refusals;
	/** The figures of all processes of this machine; null if this one is alone. */
	figuresOfAll: (() => Promise<Figure[]>) | null;
	eventLoop: ReturnType<typeof watchEventLoop>;
	/** Waits for background work and closes what was opened here; the caller closes the database. */
	close(): Promise<void>;
}>;

export type ServiceOptions = {port: number} & Pick<Services, 'db' | 'config' | 'clock' | 'log' | 'adminToken'> & {
		/** Absent if this process is the only one of this machine. */
		otherWorkers?: OtherWorkers;
	};

export const createServices = (options: ServiceOptions): Services => {
	const {config, port, db, clock, log, adminToken, otherWorkers} = options;
	const addresses = addressesOf(config, port);
	const limiter = otherWorkers?.limiter ?? createOwnLimiter({redisUrl: config.redisUrl, clock, log});
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
		clicksOfOthers: otherWorkers?.clicksSettled ?? null,
		raw: clickHouse === null ? null : createRawStore(clickHouse),
	});
	const clicks =
		clickHouse === null
			? postgresClicks
			: createClickHouseClicks({db, clickHouse, settled: clickJournal.settledInStore});
	const stripe = config.stripe === null ? null : createStripe(config.stripe);
	const {publicUrl} = addresses;
	const returnUrl = config.billingReturnUrl ?? publicUrl;
	const paymob = createPaymob({config, db, clock, log, publicUrl, returnUrl});

	const phoneBook = createPhoneBook(db);
	const metrics = createMetrics(clock);
	// Loaded on demand: Joi and the other modules of links would be a third of the code loaded before the first page.
	let writer: Promise<LinkWriter> | null = null;

	return Object.freeze({
		config,
		addresses,
		adminToken,
		clock,
		log,
		db,
		limiter,
		changes,
		linkCache: createLinkCache<LinkRow>(changes, {
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
		mirrorTurns: createTurns(),
		stripe,
		paymob,
		gateways: {
			GATEWAY_A: stripe === null ? null : createStripeGateway({stripe, plans: config.plans, returnUrl}),
			GATEWAY_B: paymob === null ? null : createPaymobGateway(paymob),
		},
		keyCipher: createDisplayKeyCipher(config.keySecret, log),
		unknownCodes: createUnknownCodes({db, background}),
		errorPages: createErrorPages(changes, db),
		resolveTxt: createTxtResolver(config.dnsServers),
		clickPartitions,
		clickJournal,
		clicks,
		clickStream: createClickStream({db, clock, log, background, clicks}),
		matchPeppers: createMatchPeppers(db),
		relayRanges: createRelayRanges(config.relayRangesFile, log),
		phoneBook,
		followUps: createFollowUps({db, phoneBook, metrics}),
		eventWriter: createEventWriter(db),
		linkWriter: async (newLink) => {
			writer ??= import('./links/link-writer.ts').then(({createLinkWriter}) =>
				createLinkWriter({addresses, changes, clock, config, db, log}),
			);
			return (await writer)(newLink);
		},
		background,
		metrics,
		refusals,
		figuresOfAll: otherWorkers?.figures ?? null,
		eventLoop,
		close: async () => {
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
