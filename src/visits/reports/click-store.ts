import type {Db} from '../../platform/db/db.ts';
import type {Snapshot, SnapshotRange} from '../../platform/db/new-rows.ts';
import type {Sql} from '../../platform/db/sql.ts';
import type {Semaphore} from '../../platform/semaphore.ts';
import type {DimensionName} from '../clicks/dimensions.ts';
import type {Range, Scope} from './stats/stats-bounds.ts';
import type {RecentFigures} from './stream/click-stream-recent.ts';
import type {EventType, StreamEvent} from './stream/click-stream-store.ts';

/** The rows of a report: those of `range` that the rollups of `cover` lack, which have the transactions of `rolled`. */
export type CountedRows = {scope: Scope; range: Range; cover: Range; rolled: Snapshot};

/** Clicks as reports count them. */
export type ClickReader = {
	/** Limits concurrent reports: their transactions wait for the store, and must leave connections to others. */
	inTurn: Semaphore;
	/** A CTE that both SELECTs below read; null: neither needs one. */
	shared(scope: Scope, range: Range, by: readonly DimensionName[]): Sql | null;
	/** A SELECT of `at`, `clicks` (people's) and `crawler_views`. */
	counts(db: Db, counted: CountedRows): Promise<Sql>;
	/** A SELECT of `dimension`, `key` and `count` of people's clicks, by those of the dimensions that a click has. */
	dimensions(db: Db, counted: CountedRows & {by: readonly DimensionName[]}): Promise<Sql>;
};

/** How many days a cursor of an export is valid if clicks are outside PostgreSQL. */
export const EXPORT_CURSOR_DAYS = 30;

/** `from` null: from the beginning. */
export type ExportedRange = {organizationId: string; from: Snapshot | null; upTo: Snapshot};

/** The reason why old clicks are kept: some are not rolled up, another process drops them, or they are in use. */
export type KeepReason = 'uncounted' | 'in_use';

/**
 * The store of raw clicks. Reports, the live stream, privacy, retention and signals use it and do not know which store it
 * is. Statements are of PostgreSQL: their changes are part of the caller's transaction.
 */
export type ClickStore = {
	/** Waits until this machine's answered clicks that mention the text are in the store. */
	reader(containing: string): Promise<ClickReader>;
	/** The source of the live stream: clicks, matches and events in the order of PostgreSQL's transactions. */
	stream: {
		/** The last hour, and the snapshot from which the stream continues without gaps or repetitions. */
		recent(db: Db, organizationId: string | null, now: Date): Promise<{recent: RecentFigures; snapshot: Snapshot}>;
		/** The events of a range. @param types (default: all) */
		between(db: Db, range: SnapshotRange, types?: readonly EventType[]): AsyncIterable<StreamEvent[]>;
	};
	/**
	 * Clicks of an organization outside PostgreSQL whose transactions `upTo` sees and `from` does not (null: all that `upTo`
	 * sees), in pages: each an item of a FROM with the columns of `clicks` and of `click_contexts`. Null: they are in
	 * PostgreSQL.
	 */
	exported: ((db: Db, range: ExportedRange) => AsyncIterable<Sql>) | null;
	/**
	 * An item of a FROM with the columns of `clicks` and of `click_contexts`: at least the clicks of `own`.
	 * @param own a SELECT of `click_id`, `organization_id`, `link_id` and `created_at`.
	 */
	inFull(db: Db, own: Sql): Promise<Sql>;
	statements: {
		/**
		 * Adds a page's signals to its click. Follows a WITH whose `updated` has `click_id`, `organization_id`, `link_id`,
		 * `created_at`, `platform` and `had_platform`, whether it was known before.
		 */
		addSignals(timezone: string | null): Sql;
		/**
		 * Removes the person's properties, and keeps the values that reports count. Follows `own`, rows of open matches, in a
		 * WITH.
		 */
		forget: Sql;
		/** Removes the clicks of a deleted organization. */
		removeOrganization(id: string): Sql;
	};
	/** Applies the changes of statements to a store outside PostgreSQL. Reports do so by themselves before they read. */
	applyChanges(): Promise<void>;
	/**
	 * Drops the clicks of each month whose last day is older than `days` (CLICK_RETENTION_DAYS).
	 * @returns the dropped months, oldest first, and why the next one is `left`; null if none is.
	 */
	dropOld(db: Db, age: {now: Date; days: number}): Promise<{dropped: string[]; left: KeepReason | null}>;
	/** Rejects if a store outside PostgreSQL does not answer; null: there is none. */
	ping: (() => Promise<void>) | null;
};
