import type {Db} from '../../platform/db/db.ts';
import {type Prepared, runPrepared} from '../../platform/db/prepared.ts';
import {webhookPolicy} from './webhook-policy.ts';

/** A delivery that this process sends now, with what its endpoint needs. */
export type Claimed = {
	id: string;
	endpointId: string;
	organizationId: string;
	type: string;
	body: string;
	tries: number;
	url: string;
	secret: string;
	previousSecret: string | null;
	/** Since when the endpoint has answered nothing well; null: its last answer was well. */
	failingSince: Date | null;
	/** Until when the delivery is this process's. */
	leasedUntil: Date;
};

/** SQL: the secret before the last rotation, while it signs at that time. */
const previousSecret = (at: string): string =>
	`CASE WHEN previous_until > ${at} THEN previous_secret END AS "previousSecret"`;

/** Where the deliveries of an endpoint go, and what signs them at a time. */
export const readTarget = async (
	db: Db,
	own: {id: string; organization_id: string},
	at: Date,
): Promise<Pick<Claimed, 'url' | 'secret' | 'previousSecret'> | undefined> =>
	db('webhook_endpoints')
		.where(own)
		.first('url', 'secret', db.raw(previousSecret('?'), [at]));

/** A process that dies gives its deliveries back after so long, which is longer than a try takes. */
const LEASE_SECONDS = 60;

/** Deliveries under way to an endpoint. */
export type Sending = {endpoint: string; organization: string; sending: number};

const isDue = `status = 'PENDING' AND next_try_at <= CAST($1 AS timestamptz) AND body IS NOT NULL`;

/**
 * No organization and no endpoint holds more slots than are free in all, and of its organization; those with the fewest
 * come first, and half of what is free stays so until the next claim. So one that has none finds some, however many
 * others never answer. `$3`: the deliveries under way here, `$4`: free slots; then those of an organization, of an
 * endpoint, of one that fails or is not known to be quick.
 */
const claim: Prepared = {
	name: 'claim deliveries',
	text: `WITH busy AS MATERIALIZED (
			SELECT * FROM json_to_recordset($3::json) AS busy (endpoint uuid, organization uuid, sending integer)
		), due AS MATERIALIZED (
			SELECT delivery.id FROM (
				SELECT organizations.id, least(CAST($5 AS integer), CAST($4 AS integer)) - coalesce(busy.sending, 0) AS free
				FROM organizations
				LEFT JOIN (SELECT organization, sum(sending) AS sending FROM busy GROUP BY 1) AS busy ON organization = organizations.id
				WHERE status = 'ACTIVE' AND organizations.id IN (
					SELECT organization_id FROM webhook_endpoints AS endpoint WHERE enabled AND EXISTS (
						SELECT FROM endpoint_deliveries WHERE endpoint_id = endpoint.id AND ${isDue}))
				ORDER BY busy.sending NULLS FIRST
			) AS organization
			CROSS JOIN LATERAL (
				SELECT delivery.id FROM (
					SELECT endpoint.id, coalesce(busy.sending, 0) AS sending,
						CASE WHEN failing_since IS NULL AND quick THEN CAST($6 AS integer) ELSE CAST($7 AS integer) END AS slots
					FROM webhook_endpoints AS endpoint LEFT JOIN busy ON busy.endpoint = endpoint.id
					WHERE organization_id = organization.id AND enabled ORDER BY busy.sending NULLS FIRST
				) AS endpoint
				CROSS JOIN LATERAL (
					SELECT id FROM endpoint_deliveries WHERE endpoint_id = endpoint.id AND ${isDue} ORDER BY next_try_at
					LIMIT greatest(0, least(endpoint.slots, organization.free) - endpoint.sending)
					FOR UPDATE SKIP LOCKED
				) AS delivery
				LIMIT greatest(0, (organization.free + 1) / 2)
			) AS delivery
			LIMIT (CAST($4 AS integer) + 1) / 2
		), claimed AS (
			UPDATE endpoint_deliveries SET next_try_at = CAST($2 AS timestamptz) FROM due WHERE endpoint_deliveries.id = due.id
			RETURNING endpoint_deliveries.*
		)
		SELECT claimed.id, claimed.next_try_at AS "leasedUntil", endpoint_id AS "endpointId", claimed.organization_id AS "organizationId", type, body, tries, url, secret,
			failing_since AS "failingSince",
			${previousSecret('CAST($1 AS timestamptz)')}
		FROM claimed JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id`,
};

/** What is due and has a slot, of active organizations alone (contract/webhooks 4). @param free slots of this process. */
export const claimDeliveries = (db: Db, now: Date, {sending, free}: {sending: Sending[]; free: number}) => {
	const {slots} = webhookPolicy();
	return runPrepared<Claimed>(db, claim, [
		now,
		new Date(now.getTime() + LEASE_SECONDS * 1000),
		JSON.stringify(sending),
		free,
		slots.organization,
		slots.endpoint,
		slots.troubled,
	]);
};
