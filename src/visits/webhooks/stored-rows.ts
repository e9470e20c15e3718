import {type Db, inTransaction, onlyRow} from '../../platform/db/db.ts';
import {newRows, readSnapshot, type Snapshot, type SnapshotRange} from '../../platform/db/new-rows.ts';
import {execute, identifier, run, type Sql, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import {attemptColumns, type MatchAttemptRow, toMatchAttempt} from '../matches/match-attempt-store.ts';
import {type EventJson, eventColumns} from '../sdk/sdk-store.ts';
import {type ClickDeps, clickDeliveries, MAX_BYTES} from './click-deliveries.ts';
import {insertDeliveries} from './delivery-store.ts';
import type {EventType} from './endpoint.ts';
import {deliveriesOf, type LabelledEvent, type Listeners, readLabels, readListeners} from './listeners.ts';

/** Rows that become deliveries once they are stored: nothing is written beside them on the way of a page or a match. */
type Source = 'clicks' | 'matches' | 'events';

const typesOf: Record<Source, readonly EventType[]> = {
	clicks: ['click.recorded'],
	matches: ['match.found', 'match.missed'],
	events: ['event.tracked'],
};

type Deps = ClickDeps & Pick<Services, 'db'>;

/**
 * Moves the positions of sources that no endpoint is subscribed to yet to now: rows stored before the first endpoint are
 * not delivered to it. Call it before an endpoint is written, in the same transaction: it waits for a sender, and a sender
 * passes over it.
 */
export const openPositions = async (trx: Db): Promise<void> => {
	const sources = Object.keys(typesOf).map((source) => ({source}));
	await trx('webhook_positions').insert(sources).onConflict().ignore();
	await trx('webhook_positions').orderBy('source').forUpdate().select('source');
	for (const [source, types] of Object.entries(typesOf)) {
		await execute(
			trx,
			sql`UPDATE webhook_positions SET snapshot = pg_current_snapshot()::text, ahead = NULL
			WHERE source = ${source}
				AND NOT EXISTS (SELECT FROM webhook_endpoints WHERE enabled AND events && ${['*', ...types]}::text[])`,
		);
	}
};

/** Whether a position is of another cluster of PostgreSQL, as after a backup was restored: its numbers mean nothing here. */
const isForeign = (from: Snapshot, now: Snapshot): boolean =>
	BigInt(from.split(':')[1] ?? 0) > BigInt(now.split(':')[1] ?? 0);

/** An attempt without its signals, with as many candidates as fit. */
const attemptData = ({writer: _, ...row}: MatchAttemptRow & {writer: string}): object => {
	const {signals, ...attempt} = toMatchAttempt(row);
	while (attempt.candidates.length > 0 && Buffer.byteLength(JSON.stringify(attempt)) > MAX_BYTES - 1000) {
		attempt.candidates.pop();
	}

	return attempt;
};

type StoredRow = {id: string; organizationId: string | null; linkId: string | null};
type Stored<Row extends StoredRow> = {
	table: 'match_attempts' | 'events';
	columns: Sql;
	eventOf: (row: Row & {writer: string}) => Pick<LabelledEvent, 'type' | 'at' | 'data'>;
};

const matches: Stored<MatchAttemptRow> = {
	table: 'match_attempts',
	columns: attemptColumns,
	eventOf: (row) => ({type: row.matched ? 'match.found' : 'match.missed', at: row.at, data: attemptData(row)}),
};

const events: Stored<EventJson & {organizationId: string}> = {
	table: 'events',
	columns: sql`${eventColumns.of('events')}, organization_id AS "organizationId"`,
	eventOf: ({organizationId: _, writer: __, ...data}) => ({type: 'event.tracked', at: data.receivedAt, data}),
};

/** The deliveries of the rows of a table that were written between two snapshots. */
async function* rowDeliveries<Row extends StoredRow>(
	{table, columns, eventOf}: Stored<Row>,
	db: Db,
	listeners: Listeners,
	range: SnapshotRange,
) {
	const condition = sql`organization_id = ANY (${[...listeners.keys()]}::uuid[])`;
	const source = {table: identifier(table), name: identifier(table), columns, condition};
	for await (const rows of newRows<Row>(db, source, range)) {
		const links = await readLabels(
			db,
			listeners,
			rows.map(({linkId}) => linkId),
		);
		yield rows.flatMap((row) => {
			const organizationId = row.organizationId ?? '';
			const event = {...eventOf(row), organizationId, link: links.get(row.linkId ?? '') ?? null};
			return deliveriesOf(listeners.get(organizationId) ?? [], event);
		});
	}
}

const deliveriesBetween = (services: Deps, trx: Db, source: Source, listeners: Listeners, range: SnapshotRange) => {
	switch (source) {
		case 'clicks':
			return clickDeliveries(services, trx, listeners, range);
		case 'matches':
			return rowDeliveries(matches, trx, listeners, range);
		case 'events':
			return rowDeliveries(events, trx, listeners, range);
	}
};

type Position = {snapshot: Snapshot | null; ahead: Snapshot | null; seconds: number};

/** The delay after which the follow-ups of a match are stored (`follow-ups.ts`). */
const MATCH_SECONDS = 1;
/** A position without new rows moves this seldom, because each move is a write. */
const IDLE_SECONDS = 10;

/** The position of a source, which is this transaction's alone; undefined while another one has it. */
const takePosition = async (trx: Db, source: Source): Promise<Position | undefined> => {
	const [position] = await run<Position>(
		trx,
		sql`SELECT snapshot, ahead, extract(epoch FROM clock_timestamp() - moved_at)::float8 AS seconds
		FROM webhook_positions WHERE source = ${source} FOR UPDATE SKIP LOCKED`,
	);
	return position;
};

/**
 * Creates deliveries of the rows that any process committed since the last call; matches follow a second later. One process
 * at a time does it; the others pass over it. @returns the number of deliveries.
 */
export const deliverStoredRows = (services: Deps, source: Source): Promise<number> =>
	inTransaction(services.db, async (trx) => {
		const position = await takePosition(trx, source);
		const listeners = await readListeners(trx, typesOf[source]);
		if (position === undefined || listeners.size === 0 || (source === 'matches' && position.seconds < MATCH_SECONDS)) {
			return 0;
		}

		const now = await readSnapshot(trx);
		const known = (snapshot: Snapshot | null) => (snapshot === null || isForeign(snapshot, now) ? null : snapshot);
		const before = known(position.snapshot);
		const from = before ?? now;
		const upTo = source === 'matches' ? (known(position.ahead) ?? from) : now;
		let made = 0;
		if (from !== upTo) {
			for await (const deliveries of deliveriesBetween(services, trx, source, listeners, {from, upTo})) {
				await insertDeliveries(trx, deliveries, services.clock.now());
				made += deliveries.length;
			}
		}

		if (made > 0 || before === null || position.seconds > IDLE_SECONDS || source === 'matches') {
			await execute(
				trx,
				sql`UPDATE webhook_positions SET snapshot = ${upTo}, ahead = ${now}, moved_at = clock_timestamp()
				WHERE source = ${source}`,
			);
		}

		return made;
	});

/** Whether any endpoint exists: without one, webhooks cost this statement only. */
export const hasEndpoints = async (db: Db): Promise<boolean> => {
	const rows = await run<{found: boolean}>(
		db,
		sql`SELECT EXISTS (SELECT FROM webhook_endpoints WHERE enabled) AS found`,
	);
	return onlyRow(rows).found;
};
