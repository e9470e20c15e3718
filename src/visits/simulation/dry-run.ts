import {randomUUID} from 'node:crypto';
import {createBackground} from '../../platform/background.ts';
import type {Db} from '../../platform/db/db.ts';
import {execute, literal, sql} from '../../platform/db/sql.ts';
import {createMetrics} from '../../platform/metrics/metrics.ts';
import type {Services} from '../../services.ts';
import {postgresClicks} from '../click-stores/postgres-clicks.ts';
import type {ClickJournal} from '../clicks/journal/click-journal.ts';
import {createDirectWriter} from '../clicks/journal/cursors.ts';
import {encodeEntry} from '../clicks/journal/entry.ts';
import type {Stores} from '../clicks/journal/store.ts';
import {findMatch, type MatchDeps} from '../matches/find-match.ts';
import type {MatchRequest} from '../matches/first-open.ts';
import {createFollowUps} from '../matches/follow-ups.ts';
import type {MatchAnswer} from '../matches/match-answer.ts';
import {findAttempt, type MatchAttempt} from '../matches/match-attempt-store.ts';
import {createDryPeppers} from '../matches/network-keys.ts';
import {createPhoneBook} from '../matches/phone-book.ts';
import type {VisitDeps} from '../resolution/visit-link.ts';

/**
 * Replaces the journal and writes clicks immediately, such as into a transaction.
 * @param onFailure is called with the error of a click that was not written.
 */
export const directJournal = ({
	db,
	clickPartitions,
	onFailure,
}: Pick<Stores, 'db' | 'clickPartitions'> & {onFailure: (error: unknown) => void}): ClickJournal => {
	const write = createDirectWriter({
		db,
		clickPartitions,
		clickHouse: null,
		onRefused: (_, error) => {
			throw error;
		},
	});
	return {
		record: (click, at, done) => {
			write(encodeEntry(click, at)).then(
				() => done(true),
				(error: unknown) => {
					onFailure(error);
					done(false);
				},
			);
		},
		flushed: async () => {},
		isClickHouseDown: () => false,
		start: async () => {},
		figures: () => ({waitingBytes: 0, maxBytes: 0, oldestSeconds: 0, drained: 0, direct: 0, lost: 0, refused: 0}),
		close: async () => {},
	};
};

/** An idle transaction ends by itself: an organization's clicks may wait for a row that this one holds. */
const IDLE_MS = 5000;

/** The members of `Services` that a dry run may use. Those that write do so in its transaction; the others only read. */
export type DryServices = VisitDeps & MatchDeps & Pick<Services, 'clicks' | 'keyCache'>;

/** The members of the running server's `Services` from which `dryServices` builds them. */
export type RunDeps = Pick<Services, 'clickPartitions'> & DryServices;

type TransactionServices = Pick<Services, 'clock' | 'background'> & {db: Db};

const dryServices = (services: RunDeps, {db, clock, background}: TransactionServices): DryServices => ({
	// Over the transaction, or only for this run.
	db,
	clock,
	background,
	matchPeppers: createDryPeppers(db),
	phoneBook: createPhoneBook(db),
	followUps: createFollowUps({db, phoneBook: createPhoneBook(db), metrics: createMetrics(services.clock)}, 0),
	clicks: postgresClicks,
	clickJournal: directJournal({
		db,
		clickPartitions: services.clickPartitions,
		onFailure: (error) => services.log.error({err: error}, 'a dry run could not write its click'),
	}),
	metrics: createMetrics(services.clock),
	aliasVisits: {count: () => {}},
	unknownCodes: {count: () => {}, settled: async () => {}},
	appRequests: {note: () => {}, settled: async () => {}, close: () => {}},

	// Shared: configuration, pure functions and caches.
	config: services.config,
	addresses: services.addresses,
	linkPolicy: services.linkPolicy,
	log: services.log,
	limiter: services.limiter,
	linkCache: services.linkCache,
	hostCache: services.hostCache,
	keyCache: services.keyCache,
	pages: services.pages,
	clientIp: services.clientIp,
	relayRanges: services.relayRanges,
	countries: services.countries,
	hostRoles: services.hostRoles,
});

/**
 * Runs `work` over services of a transaction that is rolled back, with a clock that stands still: nothing is counted,
 * consumed or registered.
 */
export const dryRun = async <T>(services: RunDeps, work: (dry: DryServices) => Promise<T>): Promise<T> => {
	const now = services.clock.now();
	// Before the transaction, whose locks the journal would wait for.
	await services.clickJournal.flushed();
	const background = createBackground(services.log);
	const trx = await services.db.transaction();
	try {
		await execute(trx, sql`SET LOCAL idle_in_transaction_session_timeout = ${literal(IDLE_MS)}`);
		return await work(dryServices(services, {db: trx, clock: {now: () => now}, background}));
	} finally {
		await background.settle();
		await trx.rollback();
	}
};

/**
 * The answer that `/match` would give, and its reason. The attempt has no id, because it is not stored. It is null if an earlier answer
 * would be repeated to the device, which is not a new attempt.
 */
export type DryRunMatch = {answer: MatchAnswer; attempt: Omit<MatchAttempt, 'id'> | null};

/** A match over the services of a dry run: `/dev/match` and a simulation end with it. */
export const dryRunMatch = async (dry: DryServices, request: MatchRequest): Promise<DryRunMatch> => {
	const attemptId = randomUUID();
	const answer = await findMatch(dry, {...request, attemptId});
	// A match by token gets its candidates after the answer.
	await dry.background.settle();
	const recorded = await findAttempt(dry.db, attemptId);
	if (recorded === null) {
		return {answer, attempt: null};
	}

	const {id: _, ...attempt} = recorded;
	return {answer, attempt};
};
