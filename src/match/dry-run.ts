import {createBackground} from '../background.ts';
import {postgresClicks} from '../clicks/postgres-clicks.ts';
import {directly} from '../clicks/record-click.ts';
import type {Db} from '../db/db.ts';
import {createMetrics} from '../metrics/metrics.ts';
import type {Services} from '../services.ts';
import {createMatchPeppers} from './match-peppers.ts';
import {createPhoneBook} from './phone-book.ts';

/** An idle transaction ends by itself: an organization's clicks may wait for a row that this one holds. */
const IDLE_MS = 5000;

/** Stands for a member that writes outside the transaction, so that using it fails instead of writing. */
const withheld = <Name extends keyof Services>(name: Name): Services[Name] =>
	new Proxy({} as object, {
		get: () => {
			throw new Error(`A dry run does not use ${name}`);
		},
	}) as Services[Name];

type Own = Pick<Services, 'clock' | 'background'> & {db: Db};

/** Every member by its name, and none taken over unseen: a new one fails to compile here until somebody decides. */
const dryServices = (services: Services, {db, clock, background}: Own): Services => ({
	// Over the transaction, or only for this run.
	db,
	clock,
	background,
	matchPeppers: createMatchPeppers(db),
	phoneBook: createPhoneBook(db),
	clicks: postgresClicks,
	clickJournal: directly({
		db,
		clickPartitions: services.clickPartitions,
		onFailure: (error) => services.log.error({err: error}, 'a dry run could not write its click'),
	}),
	metrics: createMetrics(services.clock),
	unknownCodes: {count: () => {}, settled: async () => {}},

	// Shared: configuration, pure functions, and what keeps in memory what was read.
	config: services.config,
	addresses: services.addresses,
	log: services.log,
	limiter: services.limiter,
	linkCache: services.linkCache,
	hostCache: services.hostCache,
	keyCache: services.keyCache,
	pageTemplates: services.pageTemplates,
	clientIp: services.clientIp,
	relayRanges: services.relayRanges,
	hostRoles: services.hostRoles,

	// Not for a dry run.
	adminToken: '',
	stripe: null,
	paymob: null,
	gateways: {GATEWAY_A: null, GATEWAY_B: null},
	figuresOfAll: null,
	changes: withheld('changes'),
	associationCache: withheld('associationCache'),
	verifySession: withheld('verifySession'),
	provider: withheld('provider'),
	mirrorTurns: withheld('mirrorTurns'),
	keyCipher: withheld('keyCipher'),
	errorPages: withheld('errorPages'),
	resolveTxt: withheld('resolveTxt'),
	clickPartitions: withheld('clickPartitions'),
	clickStream: withheld('clickStream'),
	eventWriter: withheld('eventWriter'),
	linkWriter: withheld('linkWriter'),
	refusals: withheld('refusals'),
	eventLoop: withheld('eventLoop'),
	close: async () => {},
});

/**
 * Runs `work` over services of a transaction that is rolled back, with a clock that stands still: nothing is counted,
 * consumed or registered.
 */
export const dryRun = async <T>(services: Services, work: (dry: Services) => Promise<T>): Promise<T> => {
	const now = services.clock.now();
	// Before the transaction, whose locks the journal would wait for.
	await services.clickJournal.settled();
	const background = createBackground(services.log);
	const trx = await services.db.transaction();
	try {
		await trx.raw(`SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`);
		return await work(dryServices(services, {db: trx, clock: {now: () => now}, background}));
	} finally {
		await background.settle();
		await trx.rollback();
	}
};
