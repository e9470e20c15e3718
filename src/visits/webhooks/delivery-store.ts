import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {type Page, type PageQuery, readSqlPage} from '../../platform/db/read-page.ts';
import {execute, joined, prepared, run, sql} from '../../platform/db/sql.ts';
import {
	answerOf,
	count,
	instant,
	instantOrNull,
	instantText,
	listOf,
	oneOf,
	orNull,
	partOf,
	text,
	textOrNull,
	uuid,
	type ValueOf,
} from '../../platform/http/answer.ts';
import type {Attempt} from './send-delivery.ts';
import {webhookPolicy} from './webhook-policy.ts';

export const deliveryStatus = oneOf('PENDING', 'DELIVERED', 'FAILED');
type DeliveryStatus = ValueOf<typeof deliveryStatus>;

/** A delivery to create. */
export type NewDelivery = {
	endpointId: string;
	organizationId: string;
	type: string;
	at: Date;
	body: string;
};

const insert = (rows: string, now: Date) =>
	prepared(
		'insert deliveries',
		sql`INSERT INTO endpoint_deliveries (id, endpoint_id, organization_id, type, at, created_at, body, status, next_try_at)
		SELECT id, "endpointId", "organizationId", type, at, ${now}::timestamptz, body, 'PENDING', ${now}::timestamptz
		FROM json_to_recordset(${rows}::json) AS made (id uuid, "endpointId" uuid, "organizationId" uuid, type text, at timestamptz, body text)
		-- nothing is sent to an endpoint that has just been removed
		WHERE EXISTS (SELECT FROM webhook_endpoints WHERE webhook_endpoints.id = "endpointId" FOR KEY SHARE)
		RETURNING id`,
	);

/** Creates deliveries, which are due at once. @returns their ids. */
export const insertDeliveries = async (trx: Db, deliveries: readonly NewDelivery[], now: Date): Promise<string[]> => {
	if (deliveries.length === 0) {
		return [];
	}

	const rows = deliveries.map((delivery) => ({id: randomUUID(), ...delivery}));
	const inserted = await run<{id: string}>(trx, insert(JSON.stringify(rows), now));
	return inserted.map(({id}) => id);
};

/**
 * The outcome of an attempt. `nextTryAt` counts if the delivery stays PENDING. `leasedUntil` shows whether the delivery was
 * replayed meanwhile: then the attempt is only logged.
 */
export type Outcome = {
	id: string;
	endpointId: string;
	status: DeliveryStatus;
	nextTryAt: Date;
	leasedUntil: Date;
	tried: Attempt;
};

const record = (rows: string, quickMs: number) =>
	prepared(
		'record tries',
		sql`WITH tried AS MATERIALIZED (
			SELECT * FROM json_to_recordset(${rows}::json) AS tried (id uuid, "endpointId" uuid, status text, "nextTryAt" timestamptz,
				"leasedUntil" timestamptz, at timestamptz, code smallint, "durationMs" integer, error text, answer text)
		), changed AS (
			UPDATE endpoint_deliveries AS delivery SET tries = tries + 1,
				status = CASE WHEN next_try_at = "leasedUntil" THEN tried.status ELSE delivery.status END,
				next_try_at = CASE WHEN next_try_at = "leasedUntil" THEN "nextTryAt" ELSE next_try_at END,
				delivered_at = CASE WHEN next_try_at = "leasedUntil" AND tried.status = 'DELIVERED' THEN tried.at
					ELSE delivered_at END
			FROM tried WHERE delivery.id = tried.id RETURNING tried.*
		), logged AS (
			INSERT INTO delivery_tries (delivery_id, at, status, duration_ms, error, answer)
			SELECT id, at, code, "durationMs", error, answer FROM changed
		), judged AS (
			SELECT "endpointId" AS id, bool_or(status = 'DELIVERED') AS well, min(at) AS at,
				bool_and("durationMs" <= ${quickMs}::integer) AS quick
			FROM tried GROUP BY 1
		), turned AS MATERIALIZED (
			-- in one order, so that no two processes wait for each other
			SELECT judged.* FROM judged JOIN webhook_endpoints AS endpoint ON endpoint.id = judged.id
			WHERE well = (failing_since IS NOT NULL) OR judged.quick <> endpoint.quick ORDER BY endpoint.id FOR NO KEY UPDATE OF endpoint
		)
		UPDATE webhook_endpoints SET quick = turned.quick, failing_since = CASE WHEN well THEN NULL ELSE coalesce(failing_since, turned.at) END
		FROM turned WHERE webhook_endpoints.id = turned.id`,
	);

/** Records attempts, the start of their endpoints' failures, and whether the endpoints are quick. */
export const recordAttempts = async (db: Db, outcomes: readonly Outcome[]): Promise<void> => {
	const rows = outcomes
		.map(({tried: {status: code, retryAfter: _, ...tried}, ...outcome}) => ({...tried, ...outcome, code}))
		// In one order: two processes cannot deadlock.
		.toSorted((one, other) => (one.id < other.id ? -1 : 1));
	await execute(db, record(JSON.stringify(rows), webhookPolicy().quickSeconds * 1000));
};

/** An attempt as the API shows it. */
export const attemptFields = {
	at: instantText,
	status: orNull(count),
	durationMs: count,
	error: textOrNull,
	/** The first KB of the answer. */
	answer: textOrNull,
};

/** A delivery with each attempt (contract/webhooks 5). */
export const deliveryAnswer = answerOf('WebhookDelivery', {
	id: uuid,
	type: text,
	at: instant,
	createdAt: instant,
	status: deliveryStatus,
	/** Null unless another attempt follows. */
	nextTryAt: instantOrNull,
	tries: listOf(partOf(attemptFields)),
});
export type Delivery = ValueOf<typeof deliveryAnswer>;

export type DeliveryQuery = PageQuery & {status?: DeliveryStatus};

const columns: Columns<Omit<Delivery, 'tries'>> = columnsOf('id, type, at, created_at, status, next_try_at');

const tries = sql`(SELECT coalesce(json_agg(json_build_object('at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
		'status', status, 'durationMs', duration_ms, 'error', error, 'answer', answer) ORDER BY at), '[]')
	FROM delivery_tries WHERE delivery_id = endpoint_deliveries.id) AS tries`;

const shown = joined([columns.of('endpoint_deliveries'), tries]);

const toDelivery = (row: Delivery): Delivery => ({
	...row,
	nextTryAt: row.status === 'PENDING' ? row.nextTryAt : null,
});

/** Deliveries to one endpoint of an organization. */
export const createDeliveryStore = (
	db: Db,
	{organizationId, endpointId}: {organizationId: string; endpointId: string},
) => {
	const own = () => db('endpoint_deliveries').where({organization_id: organizationId, endpoint_id: endpointId});
	const ownRows = sql`endpoint_deliveries WHERE organization_id = ${organizationId} AND endpoint_id = ${endpointId}`;
	const again = {status: 'PENDING', tries: 0, delivered_at: null};
	return {
		/** Newest first, each with its attempts. */
		list: async ({status, ...query}: DeliveryQuery): Promise<Page<Delivery>> => {
			const from = status === undefined ? ownRows : sql`${ownRows} AND status = ${status}`;
			const page = await readSqlPage<Delivery>(db, {columns: shown, from, order: sql`created_at DESC, id DESC`}, query);
			return {...page, data: page.data.map(toDelivery)};
		},

		find: async (id: string): Promise<(Delivery & {hasBody: boolean}) | null> => {
			const [row] = await run<Delivery & {hasBody: boolean}>(
				db,
				sql`SELECT ${shown}, body IS NOT NULL AS "hasBody" FROM ${ownRows} AND id = ${id}`,
			);
			return row === undefined ? null : {...toDelivery(row), hasBody: row.hasBody};
		},

		/** Sends one again. */
		replay: async (id: string, now: Date): Promise<void> => {
			await own()
				.where({id})
				.whereNotNull('body')
				.update({...again, next_try_at: now});
		},

		/** Sends all again of events since a time, unless their bodies have been deleted. @returns how many. */
		replaySince: (since: Date, now: Date): Promise<number> =>
			own()
				.where('at', '>=', since)
				.where('type', '<>', 'endpoint.test')
				.whereNotNull('body')
				.update({...again, next_try_at: now}),
	};
};
