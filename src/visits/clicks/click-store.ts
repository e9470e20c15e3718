import type {Db} from '../../platform/db/db.ts';
import type {Sql} from '../../platform/db/sql.ts';
import type {Turns} from '../../platform/semaphore.ts';
import type {Range, Scope} from '../reports/stats/stats-bounds.ts';
import type {Recent} from '../reports/stream/click-stream-recent.ts';
import type {EventType, Snapshot, StreamEvent} from '../reports/stream/click-stream-store.ts';
import type {Rows} from './click-context.ts';
import type {DimensionName} from './dimensions.ts';

/** The clicks of a report: those of `range` that the rollups of `cover` lack. */
type Counted = {scope: Scope; range: Range; cover: Range};

/**
 * Clicks as reports count them. The SQL may bind what every statement of a report binds: `organizationId`, `linkIds`,
 * `from`, `to`, `quartersFrom`, `quartersTo`, `spansFrom`, `spansTo` and `rolled`.
 */
export type ClickReader = {
	/** A report's turn: its transaction waits for the store, and must leave connections to everybody else. */
	inTurn: Turns;
	/** A CTE that both SELECTs below read; null: neither needs one. */
	shared(scope: Scope, by: readonly DimensionName[]): string | null;
	/** A SELECT of `at`, `clicks` (people's) and `crawler_views`. */
	counts(db: Db, counted: Counted): Promise<Rows>;
	/** A SELECT of `dimension`, `key` and `count` of people's clicks by some dimensions; those of others are left out. */
	dimensions(db: Db, counted: Counted & {by: readonly DimensionName[]}): Promise<Rows>;
};

/** For how many days a cursor of an export is good where clicks are outside PostgreSQL. */
export const EXPORT_CURSOR_DAYS = 30;

/** `from` null: from the beginning. */
export type ExportedRange = {organizationId: string; from: Snapshot | null; upTo: Snapshot};

/** Why old clicks are still there: some are not rolled up, another process drops them, or they are in use. */
export type Left = 'uncounted' | 'in_use';

/**
 * Where raw clicks are. Reports, the live stream, privacy, retention and signals use it and do not know which store it
 * is. Statements are of PostgreSQL, so that what they change is part of the caller's transaction.
 */
export type ClickStore = {
	/** Waits until the clicks that this machine has answered are in the store, those that mention the text. */
	reader(mentioned: string): Promise<ClickReader>;
	/** The source of the live stream: clicks, matches and events in the order of PostgreSQL's transactions. */
	stream: {
		/** The last hour, and the snapshot from which the stream continues without gaps or repetitions. */
		recent(db: Db, organizationId: string | null, now: Date): Promise<{recent: Recent; snapshot: Snapshot}>;
		/** The events committed after `from` and up to `upTo`; @param types by default, all. */
		between(db: Db, from: Snapshot, upTo: Snapshot, types?: readonly EventType[]): AsyncIterable<StreamEvent[]>;
	};
	/**
	 * Clicks of an organization outside PostgreSQL whose transactions `upTo` sees and `from` does not (null: all that `upTo`
	 * sees), in pages: each an item of a FROM with the columns of `clicks` and of `click_contexts`. Null: they are in
	 * PostgreSQL.
	 */
	exported: ((db: Db, range: ExportedRange) => AsyncIterable<Rows>) | null;
	/**
	 * An item of a FROM with the columns of `clicks` and of `click_contexts`: at least the clicks of `own`.
	 * @param own a SELECT of `click_id`, `organization_id`, `link_id` and `created_at`.
	 */
	inFull(db: Db, own: Rows): Promise<Rows>;
	statements: {
		/** Adds a page's signals to its open match and to its click (`addSignalsSql`). */
		addSignals: string;
		/**
		 * Removes what describes the person, and keeps what reports count. Follows `own`, open matches in full, in a WITH.
		 */
		forget: string;
		/** Removes the clicks of a deleted organization. Binds `id`. */
		removeOrganization: (organizationId: string) => Sql;
	};
	/** Applies what statements have changed to a store outside PostgreSQL. Reports do so by themselves before they read. */
	applyChanges(): Promise<void>;
	/**
	 * Drops the clicks of each month whose last day is older than `days` (CLICK_RETENTION_DAYS).
	 * @returns the dropped months, oldest first, and why the next one is `left`; null if none is.
	 */
	dropOld(db: Db, age: {now: Date; days: number}): Promise<{dropped: string[]; left: Left | null}>;
	/** Rejects if a store outside PostgreSQL does not answer; null: there is none. */
	ping: (() => Promise<void>) | null;
};
