import type {Db} from '../../platform/db/db.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {webhookPolicy} from './webhook-policy.ts';

/** A delivery that this process sends now, with the data of its endpoint. */
export type ClaimedDelivery = {
	id: string;
	endpointId: string;
	organizationId: string;
	type: string;
	body: string;
	tries: number;
	url: string;
	secret: string;
	previousSecret: string | null;
	/** Start of the endpoint's current run of failures; null if its last delivery succeeded. */
	failingSince: Date | null;
	/** The end of this process's lease on the delivery. */
	leasedUntil: Date;
};

/** The previous secret, if it still signs at that time. */
const previousSecret = (at: Date): Sql =>
	sql`CASE WHEN previous_until > ${at} THEN previous_secret END AS "previousSecret"`;

/** The URL of an endpoint's deliveries, and the secrets that sign them at a time. */
export const readTarget = async (
	db: Db,
	{id, organizationId}: {id: string; organizationId: string},
	at: Date,
): Promise<Pick<ClaimedDelivery, 'url' | 'secret' | 'previousSecret'> | undefined> => {
	const [target] = await run<Pick<ClaimedDelivery, 'url' | 'secret' | 'previousSecret'>>(
		db,
		sql`SELECT url, secret, ${previousSecret(at)} FROM webhook_endpoints
		WHERE id = ${id} AND organization_id = ${organizationId}`,
	);
	return target;
};

/** After this time other processes take the deliveries of a dead one. An attempt takes less. */
const LEASE_SECONDS = 60;

/** Deliveries in flight to an endpoint. */
type InFlight = {endpoint: string; organization: string; sending: number};

const isDue = (now: Date): Sql => sql`status = 'PENDING' AND next_try_at <= ${now} AND body IS NOT NULL`;

/**
 * Takes due deliveries of active organizations, as many as have a slot (contract/webhooks 4).
 *
 * No organization and no endpoint holds more slots than are free in all, and of its organization; those with the fewest
 * come first, and half of the free slots stay free until the next claim. So one that has none finds some, however many
 * others never answer.
 * @param inFlight the deliveries of this process. @param free its free slots.
 */
export const claimDeliveries = (
	db: Db,
	now: Date,
	{inFlight, free}: {inFlight: InFlight[]; free: number},
): Promise<ClaimedDelivery[]> => {
	const {organization, endpoint, troubled} = webhookPolicy().slots;
	const leasedUntil = new Date(now.getTime() + LEASE_SECONDS * 1000);
	const statement = sql`WITH busy AS MATERIALIZED (
			SELECT * FROM json_to_recordset(${JSON.stringify(inFlight)}::json) AS busy (endpoint uuid, organization uuid, sending integer)
		), due AS MATERIALIZED (
			SELECT delivery.id FROM (
				SELECT organizations.id, least(${organization}::integer, ${free}::integer) - coalesce(busy.sending, 0) AS free
				FROM organizations
				LEFT JOIN (SELECT organization, sum(sending) AS sending FROM busy GROUP BY 1) AS busy ON organization = organizations.id
				WHERE status = 'ACTIVE' AND organizations.id IN (
					SELECT organization_id FROM webhook_endpoints AS endpoint WHERE enabled AND EXISTS (
						SELECT FROM endpoint_deliveries WHERE endpoint_id = endpoint.id AND ${isDue(now)}))
				ORDER BY busy.sending NULLS FIRST
			) AS organization
			CROSS JOIN LATERAL (
				SELECT delivery.id FROM (
					SELECT endpoint.id, coalesce(busy.sending, 0) AS sending,
						CASE WHEN failing_since IS NULL AND quick THEN ${endpoint}::integer ELSE ${troubled}::integer END AS slots
					FROM webhook_endpoints AS endpoint LEFT JOIN busy ON busy.endpoint = endpoint.id
					WHERE organization_id = organization.id AND enabled ORDER BY busy.sending NULLS FIRST
				) AS endpoint
				CROSS JOIN LATERAL (
					SELECT id FROM endpoint_deliveries WHERE endpoint_id = endpoint.id AND ${isDue(now)} ORDER BY next_try_at
					LIMIT greatest(0, least(endpoint.slots, organization.free) - endpoint.sending)
					FOR UPDATE SKIP LOCKED
				) AS delivery
				LIMIT greatest(0, (organization.free + 1) / 2)
			) AS delivery
			LIMIT (${free}::integer + 1) / 2
		), claimed AS (
			UPDATE endpoint_deliveries SET next_try_at = ${leasedUntil} FROM due WHERE endpoint_deliveries.id = due.id
			RETURNING endpoint_deliveries.*
		)
		SELECT claimed.id, claimed.next_try_at AS "leasedUntil", endpoint_id AS "endpointId",
			claimed.organization_id AS "organizationId", type, body, tries, url, secret, failing_since AS "failingSince",
			${previousSecret(now)}
		FROM claimed JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id`;
	return run<ClaimedDelivery>(db, prepared('claim deliveries', statement));
};

/** A delivery that this process sends. */
type Slot = Pick<ClaimedDelivery, 'id' | 'endpointId' | 'organizationId' | 'leasedUntil'>;

/**
 * The deliveries that this process sends. One whose attempt outlives its lease gives its slot back: any process may send
 * the delivery by then, and a fault of ours must not stop the others for good.
 */
export class Slots {
	readonly #taken = new Set<Slot>();
	readonly #overdue = new Set<Slot>();

	get taken(): number {
		return this.#taken.size;
	}

	/** Attempts that have outlived their leases and not ended. */
	get overdue(): number {
		return this.#overdue.size;
	}

	take(slot: Slot): void {
		this.#taken.add(slot);
	}

	/** The attempt has ended. */
	release(slot: Slot): void {
		this.#taken.delete(slot);
		this.#overdue.delete(slot);
	}

	/** @returns the slots that are given back. */
	giveBackOverdue(now: Date): Slot[] {
		const late = [...this.#taken].filter(({leasedUntil}) => leasedUntil <= now);
		for (const slot of late) {
			this.#taken.delete(slot);
			this.#overdue.add(slot);
		}

		return late;
	}

	inFlight(): InFlight[] {
		const byEndpoint = new Map<string, InFlight>();
		for (const {endpointId: endpoint, organizationId: organization} of this.#taken) {
			const known = byEndpoint.get(endpoint)?.sending ?? 0;
			byEndpoint.set(endpoint, {endpoint, organization, sending: known + 1});
		}

		return [...byEndpoint.values()];
	}
}
