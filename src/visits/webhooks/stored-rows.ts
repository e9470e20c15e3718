import {type Db, inTransaction, onlyRow} from '../../platform/db/db.ts';
import type {Services} from '../../services.ts';
import {writtenBetween} from '../clicks/click-times.ts';
import {readSnapshot, type Snapshot, type StreamEvent} from '../clicks/stream/click-stream-store.ts';
import {type MatchAttemptRow, toMatchAttempt} from '../match/match-attempt-store.ts';
import {type EventJson, eventColumns} from '../sdk/sdk-store.ts';
import {insertDeliveries, type NewDelivery} from './delivery-store.ts';
import type {EventType} from './endpoint.ts';
import {bodyOf, deliveriesOf, type Happened, hears, type Listener, readListeners} from './listening.ts';

/** Rows that become deliveries once they are stored: nothing is written beside them on the way of a page or a match. */
type Source = 'clicks' | 'matches' | 'events';

const typesOf: Record<Source, readonly EventType[]> = {
	clicks: ['click.recorded'],
	matches: ['match.found', 'match.missed'],
	events: ['event.tracked'],
};

/** Clicks of a delivery. */
const MOST_CLICKS = 100;
/** Standard Webhooks: a body has less than 20 KB. */
const MOST_BYTES = 20_000;
/** Rows of a statement. */
const PAGE = 1000;

type Deps = Pick<Services, 'clicks' | 'clock' | 'db'>;
type Link = {tags: string[] | null; channel: string | null};
type Listeners = ReadonlyMap<string, Listener[]>;
type Range = {from: Snapshot; upTo: Snapshot};

/**
 * From now on for sources that no endpoint hears yet: what is stored before the first one is not its business. Call it
 * before an endpoint is written, in the same transaction: it waits for a sender, and a sender passes over it.
 */
export const openPositions = async (trx: Db): Promise<void> => {
	const sources = Object.keys(typesOf).map((source) => ({source}));
	await trx('webhook_positions').insert(sources).onConflict().ignore();
	await trx('webhook_positions').orderBy('source').forUpdate().select('source');
	for (const [source, types] of Object.entries(typesOf)) {
		await trx.raw(
			`UPDATE webhook_positions SET snapshot = CAST(pg_current_snapshot() AS text), ahead = NULL
			WHERE source = :source
				AND NOT EXISTS (SELECT FROM webhook_endpoints WHERE enabled AND events && CAST(:types AS text[]))`,
			{source, types: ['*', ...types]},
		);
	}
};

/** Whether a position is of another cluster of PostgreSQL, as after a backup was restored: its numbers mean nothing here. */
const isForeign = (from: Snapshot, now: Snapshot): boolean =>
	BigInt(from.split(':')[1] ?? 0) > BigInt(now.split(':')[1] ?? 0);

/** The links of rows, for filters; none where no endpoint filters. */
const readLinks = async (
	db: Db,
	listeners: Listeners,
	ids: ReadonlyArray<string | null>,
): Promise<Map<string, Link>> => {
	const isFiltered = [...listeners.values()].flat().some(({tags, channels}) => tags !== null || channels !== null);
	const known = [...new Set(ids.filter((id) => id !== null))];
	if (!isFiltered || known.length === 0) {
		return new Map();
	}

	const rows: Array<Link & {id: string}> = await db('links').whereIn('id', known).select('id', 'tags', 'channel');
	return new Map(rows.map(({id, ...link}) => [id, link]));
};

/** Rows of a table that were written between two snapshots by the organizations of `listeners`, page by page. */
async function* readRows<Row extends {id: string; writer: string}>(
	db: Db,
	{table, columns}: {table: string; columns: string},
	listeners: Listeners,
	range: Range,
): AsyncGenerator<Row[]> {
	let last = {writer: '0', id: '00000000-0000-0000-0000-000000000000'};
	for (;;) {
		const {rows} = await db.raw<{rows: Row[]}>(
			`SELECT ${columns}, CAST(writer AS text) AS writer FROM ${table}
			WHERE ${writtenBetween('from', 'upTo')} AND organization_id = ANY (CAST(:ids AS uuid[]))
				AND (writer, id) > (CAST(:writer AS xid8), CAST(:id AS uuid)) ORDER BY ${table}.writer, id LIMIT ${PAGE}`,
			{...range, ids: [...listeners.keys()], ...last},
		);
		if (rows.length > 0) {
			yield rows;
		}

		const end = rows.at(-1);
		if (end === undefined || rows.length < PAGE) {
			return;
		}

		last = {writer: end.writer, id: end.id};
	}
}

/** An attempt without its signals, with as many candidates as fit. */
const attemptData = (row: MatchAttemptRow): object => {
	const {signals: _, ...attempt} = toMatchAttempt(row);
	while (attempt.candidates.length > 0 && JSON.stringify(attempt).length > MOST_BYTES - 1000) {
		attempt.candidates.pop();
	}

	return attempt;
};

async function* matches(db: Db, listeners: Listeners, range: Range): AsyncGenerator<Happened[]> {
	const source = {table: 'match_attempts', columns: '*'};
	for await (const rows of readRows<MatchAttemptRow & {writer: string}>(db, source, listeners, range)) {
		const links = await readLinks(
			db,
			listeners,
			rows.map((row) => row.link_id),
		);
		yield rows.map((row) => ({
			organizationId: row.organization_id ?? '',
			type: row.matched ? 'match.found' : 'match.missed',
			at: row.at,
			data: attemptData(row),
			link: links.get(row.link_id ?? '') ?? null,
		}));
	}
}

async function* events(db: Db, listeners: Listeners, range: Range): AsyncGenerator<Happened[]> {
	const source = {table: 'events', columns: `${eventColumns.sql('events')}, organization_id AS "organizationId"`};
	type Row = EventJson & {organizationId: string; writer: string};
	for await (const rows of readRows<Row>(db, source, listeners, range)) {
		const links = await readLinks(
			db,
			listeners,
			rows.map(({linkId}) => linkId),
		);
		yield rows.map(({organizationId, writer: _, ...data}) => ({
			organizationId,
			type: 'event.tracked',
			at: data.receivedAt,
			data,
			link: links.get(data.linkId ?? '') ?? null,
		}));
	}
}

/** Clicks of one endpoint, cut into deliveries. */
const batchesOf = (organizationId: string, endpointId: string, clicks: readonly Click[], now: Date): NewDelivery[] => {
	const batches: Click[][] = [];
	let bytes = 0;
	for (const click of clicks) {
		const own = JSON.stringify(click.data).length + 1;
		const batch = batches.at(-1);
		if (batch === undefined || batch.length === MOST_CLICKS || bytes + own > MOST_BYTES - 200) {
			batches.push([click]);
			bytes = own;
		} else {
			batch.push(click);
			bytes += own;
		}
	}

	return batches.map((batch) => ({
		endpointId,
		organizationId,
		type: 'click.recorded',
		at: now,
		body: bodyOf('click.recorded', now, {clicks: batch.map(({data}) => data)}),
	}));
};

type Click = {data: object; link: Link | null};

/** Of a person, without anything that leads to them. */
const isPersonsClick = (event: StreamEvent): event is Extract<StreamEvent, {type: 'click'}> =>
	event.type === 'click' && event.data.botClass === null;

async function* clicks({clicks: stored, clock}: Deps, db: Db, listeners: Listeners, {from, upTo}: Range) {
	const waiting = new Map<string, Click[]>();
	for await (const page of stored.stream.between(db, from, upTo, ['click'])) {
		const own = page.filter(isPersonsClick).filter(({data}) => listeners.has(data.organization?.id ?? ''));
		const links = await readLinks(
			db,
			listeners,
			own.map(({data}) => data.link?.id ?? null),
		);
		const deliveries: NewDelivery[] = [];
		for (const {data} of own) {
			const {organization, botClass: _, ...click} = data;
			const link = links.get(click.link?.id ?? '') ?? null;
			for (const listener of listeners.get(organization?.id ?? '') ?? []) {
				if (hears(listener, {type: 'click.recorded', link})) {
					waiting.set(listener.id, [...(waiting.get(listener.id) ?? []), {data: click, link}]);
				}
			}
		}

		for (const [organizationId, hearing] of listeners) {
			for (const {id} of hearing) {
				deliveries.push(...batchesOf(organizationId, id, waiting.get(id) ?? [], clock.now()));
				waiting.delete(id);
			}
		}

		yield deliveries;
	}
}

async function* deliveriesBetween(services: Deps, trx: Db, source: Source, listeners: Listeners, range: Range) {
	if (source === 'clicks') {
		yield* clicks(services, trx, listeners, range);
		return;
	}

	const read = source === 'matches' ? matches : events;
	for await (const page of read(trx, listeners, range)) {
		yield page.flatMap((happened) => deliveriesOf(listeners.get(happened.organizationId) ?? [], happened));
	}
}

type Position = {snapshot: Snapshot | null; ahead: Snapshot | null; seconds: number};

/** What the transaction that names a match leaves to follow its answer is there after so long (`follow-ups.ts`). */
const MATCH_SECONDS = 1;
/** A position without new rows moves this seldom, because each move is a write. */
const IDLE_SECONDS = 10;

/** The position of a source, which is this transaction's alone; undefined while another one has it. */
const takePosition = async (trx: Db, source: Source): Promise<Position | undefined> =>
	trx('webhook_positions')
		.where({source})
		.forUpdate()
		.skipLocked()
		.first('snapshot', 'ahead', trx.raw('CAST(extract(epoch FROM clock_timestamp() - moved_at) AS float8) AS seconds'));

/**
 * Makes deliveries of the rows that were committed since the last time, by any process; of matches, of those that were
 * committed a second ago. One process at a time does it; the others pass over it. @returns how many deliveries.
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
			await trx('webhook_positions')
				.where({source})
				.update({snapshot: upTo, ahead: now, moved_at: trx.raw('clock_timestamp()')});
		}

		return made;
	});

/** Whether any endpoint is there: without one nothing of this costs more than this statement. */
export const hasEndpoints = async (db: Db): Promise<boolean> => {
	const {rows} = await db.raw<{rows: Array<{found: boolean}>}>(
		'SELECT EXISTS (SELECT FROM webhook_endpoints WHERE enabled) AS found',
	);
	return onlyRow(rows).found;
};
