import {Readable} from 'node:stream';
import type {Knex} from 'knex';
import {daysBefore} from '../../platform/config/policies.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {parseSnapshot, readSnapshot, type Snapshot, writtenBetween} from '../../platform/db/new-rows.ts';
import {byCursor, execute, literal, run, type Sql, sql} from '../../platform/db/sql.ts';
import {validationFailed} from '../../platform/errors.ts';
import {type Reply, type RequestFacts, reply, withLoggedFault} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import {EXPORT_CURSOR_DAYS} from '../reports/click-store.ts';
import {type ExportFormat, type ExportKind, headerOf, kinds, lineOf} from './export-kinds.ts';

/** The rows that a cursor is for; `cluster` is PostgreSQL's, because transaction numbers of another cluster mean nothing. */
type CursorScope = {kind: ExportKind; organizationId: string; cluster: string};

const invalidCursor = (fault: string) => validationFailed([{field: 'cursor', message: `cursor ${fault}`}]);

/** The position after which the next run goes on (contract/reports 8): opaque to callers. */
const cursorOf = ({kind, organizationId, cluster}: CursorScope, snapshot: Snapshot, now: Date): string =>
	Buffer.from(JSON.stringify([1, kind, organizationId, snapshot, now.getTime(), cluster])).toString('base64url');

/**
 * The snapshot of a cursor. @param notBefore null: it may have any age. @throws 400 for a cursor of another export, or
 * of another database.
 */
const snapshotOf = (
	cursor: string,
	{kind, organizationId, cluster}: CursorScope,
	{now, notBefore}: {now: Snapshot; notBefore: Date | null},
): Snapshot => {
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
	} catch {
		throw invalidCursor('is not one of an export');
	}

	const [version, ownKind, owner, snapshot, at, ownCluster] = Array.isArray(parts) ? parts : [];
	const [position, current] = [typeof snapshot === 'string' ? parseSnapshot(snapshot) : null, parseSnapshot(now)];
	if (version !== 1 || position === null || current === null) {
		throw invalidCursor('is not one of an export');
	}

	if (ownKind !== kind || owner !== organizationId) {
		throw invalidCursor(`is not one of ${kind} of this organization`);
	}

	if (ownCluster !== cluster || position.xmax > current.xmax) {
		throw invalidCursor('is of another database; begin again without it');
	}

	if (notBefore !== null && !(typeof at === 'number' && at >= notBefore.getTime())) {
		throw invalidCursor('is too old; begin again with since');
	}

	return snapshot;
};

/** Rows in memory at once. */
const PAGE = 2000;

/** How long a reader may take for a page: then PostgreSQL ends its session, and the connection is free for others. */
const MAX_STALL_MS = 120_000;

/** The header with the cursor: of the next run in an answer, of this run in a request. */
export const CURSOR_HEADER = 'X-Cursor';

const contentTypes: Record<ExportFormat, string> = {
	ndjson: 'application/x-ndjson; charset=utf-8',
	csv: 'text/csv; charset=utf-8; header=present',
	spreadsheet: 'text/csv; charset=utf-8; header=present',
};

type Export = {
	organization: {id: string};
	kind: ExportKind;
	format: ExportFormat;
	cursor?: string | undefined;
	/** Rows that happened before it are left out. */
	since?: Date | undefined;
	request: RequestFacts;
};

type Deps = Pick<Services, 'clickJournal' | 'clicks' | 'clock' | 'db' | 'longReads'>;

/** A range of transactions, read in a transaction of its own that sees nothing later. `end` gives its connection back. */
type Run = {cursor: string; pages: AsyncGenerator<string>; end: () => Promise<void>};

/** The cluster of PostgreSQL: the same after a failover, another one after a restore elsewhere. */
const readCluster = async (db: Db): Promise<string> => {
	const rows = await run<{cluster: string}>(
		db,
		sql`SELECT system_identifier::text AS cluster FROM pg_control_system()`,
	);
	return onlyRow(rows).cluster;
};

/** Lines of the rows that the transaction sees and that were committed after `from`; null: all. */
async function* pagesOf(trx: Db, {organization, kind, format, since}: Export, from: Snapshot | null, upTo: Snapshot) {
	const {source, at} = kinds[kind];
	const rows = sql`SELECT ${lineOf(kinds[kind], format)} AS line FROM ${source}
		WHERE organization_id = ${organization.id} ${from === null ? sql`` : sql`AND ${writtenBetween({from, upTo})}`}
			${since === undefined ? sql`` : sql`AND ${at} >= ${since}`}`;
	for await (const lines of byCursor(trx, rows, PAGE)) {
		yield `${lines.join('\n')}\n`;
	}
}

/** Lines of clicks that are stored in ClickHouse. */
async function* clickHousePages(trx: Db, {kind, format, since}: Export, pages: AsyncIterable<Sql>) {
	for await (const clicks of pages) {
		const rows = await run<{line: string}>(
			trx,
			sql`SELECT ${lineOf(kinds[kind], format)} AS line FROM ${clicks} AS clicks
			${since === undefined ? sql`` : sql`WHERE ${kinds[kind].at} >= ${since}`}`,
		);
		if (rows.length > 0) {
			yield `${rows.map(({line}) => line).join('\n')}\n`;
		}
	}
}

/**
 * Begins an export when it is its turn. Only a few run at once, because each holds a connection of the pool while its
 * reader is slow.
 * @throws 400 for an invalid cursor; 503 without the database, or if other exports take too long.
 */
const takeRun = async (services: Deps, given: Export): Promise<Run> => {
	const {organization, request} = given;
	const endTurn = await services.longReads.exports.take({organizationId: organization.id, hungUp: request.hungUp()});
	try {
		const {trx, ...run} = await beginRun(services, given);
		return {
			...run,
			end: async () => {
				await trx.rollback().finally(endTurn);
			},
		};
	} catch (error) {
		endTurn();
		throw error;
	}
};

const beginRun = async (services: Deps, given: Export): Promise<Omit<Run, 'end'> & {trx: Knex.Transaction}> => {
	const {organization, kind, cursor} = given;
	if (kind === 'clicks') {
		// Every request that was answered before this run is in it.
		const sink = services.clicks.exported === null ? 'postgres' : 'clickHouse';
		await services.clickJournal.flushed({containing: [organization.id], sink});
	}

	const trx = await services.db.transaction({isolationLevel: 'repeatable read', readOnly: true});
	try {
		await execute(trx, sql`SET LOCAL idle_in_transaction_session_timeout = ${literal(MAX_STALL_MS)}`);
		const upTo = await readSnapshot(trx);
		const owner = {kind, organizationId: organization.id, cluster: await readCluster(trx)};
		const exported = kind === 'clicks' ? services.clicks.exported : null;
		const notBefore = exported === null ? null : daysBefore(services.clock.now(), EXPORT_CURSOR_DAYS);
		const from = cursor === undefined ? null : snapshotOf(cursor, owner, {now: upTo, notBefore});
		const pages =
			exported === null
				? pagesOf(trx, given, from, upTo)
				: clickHousePages(trx, given, exported(trx, {...owner, from, upTo}));
		return {trx, cursor: cursorOf(owner, upTo, services.clock.now()), pages};
	} catch (error) {
		await trx.rollback();
		throw error;
	}
};

async function* bodyOf({pages}: Run, first: string, last: string) {
	yield first;
	yield* pages;
	yield last;
}

/**
 * The rows of an organization that were committed after its last export, as a stream with backpressure. Runs that go on
 * from one another's cursors hold each row once (contract/reports 8). A server fault breaks the connection instead of
 * ending the answer, and no cursor follows.
 */
export const exportRows = async (services: Deps, given: Export): Promise<Reply> => {
	const taken = await takeRun(services, given);
	const {kind, format, request} = given;
	const {cursor} = taken;
	const [first, last] =
		format === 'ndjson' ? ['', `${JSON.stringify({cursor})}\n`] : [`${headerOf(kinds[kind])}\n`, ''];
	const headers = {'Content-Type': contentTypes[format], 'Cache-Control': 'no-store', [CURSOR_HEADER]: cursor};
	if (request.isHead) {
		await taken.end();
		return reply({headers});
	}

	const body = Readable.from(withLoggedFault(request, 'an export', bodyOf(taken, first, last)), {objectMode: false});
	// Also if no reader has begun, because the generator's `finally` would not run then.
	body.once('close', () => {
		taken.end().catch(() => {});
	});
	return reply({headers, body});
};
