import {type Caller, recordAudit} from '../../accounts/audit/audit-log.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {type Db, inTransaction} from '../../platform/db/db.ts';
import {execute, run, type Sql, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import {clearedAttempt} from '../matches/match-attempt-store.ts';
import {clearOwnClicks, matchClicksOfSubject, type SubjectKeys} from '../matches/match-clicks.ts';
import type {ClickStore} from '../reports/click-store.ts';
import {type DataSubject, deliveriesOfSubject, findSubject, isOfSubject, subjectJson} from './personal-data-store.ts';

/** How many rows of each kind were about the subject. */
export type Erased = {
	devices: number;
	events: number;
	matchAttempts: number;
	clicks: number;
	/** Absent if there were none. */
	links?: number;
	/** Webhook deliveries; absent if there were none. */
	deliveries?: number;
};

/**
 * Counted rows stay, without personal data, because reports count rows beside the rollups: a click keeps the columns of
 * breakdowns, a match its method, link and time, an event its name, link and time.
 */
const createErasureStore = (trx: Db, keys: SubjectKeys, stored: Pick<ClickStore, 'statements'>) => {
	const {organizationId, deviceIds} = keys;
	const own = sql`organization_id = ${organizationId} AND device_id = ANY(${deviceIds})`;
	const count = (statement: Sql) => execute(trx, statement);

	return {
		/** Call it first: an event that arrives meanwhile waits for it, and then finds no device. */
		devices: () => count(sql`WITH shown AS (DELETE FROM app_requests WHERE ${own}) DELETE FROM devices WHERE ${own}`),

		/** Bodies of webhooks about the subject, and their responses. Call it first: the other rows find them. */
		deliveries: () =>
			count(sql`WITH own AS MATERIALIZED (${deliveriesOfSubject(keys)}), answers AS (
					UPDATE delivery_tries SET answer = NULL FROM own WHERE delivery_id = own.id
				)
				UPDATE endpoint_deliveries SET body = NULL, status = CASE status WHEN 'PENDING' THEN 'FAILED' ELSE status END
				FROM own WHERE endpoint_deliveries.id = own.id`),

		/** Call it before `matchAttempts`: the attempts may be the only way to find the clicks. */
		clicks: async (): Promise<number> => {
			const rows = await run<{forgotten: string}>(
				trx,
				sql`WITH own AS MATERIALIZED (${matchClicksOfSubject(keys)}), plain AS (
					${stored.statements.forget}
				), forgotten AS (${clearOwnClicks}
				)
				SELECT count(*) AS forgotten FROM forgotten`,
			);
			return Number(rows[0]?.forgotten ?? 0);
		},

		events: () =>
			count(sql`UPDATE events SET device_id = NULL, event_id = NULL, properties = '{}'
				WHERE ${own}`),

		/** Links that the device created: their texts are cleared, and they no longer resolve. */
		links: () =>
			count(sql`WITH own AS (
					UPDATE app_links SET device_id = '', content = uuid_send(link_id)
					WHERE ${own} RETURNING link_id
				)
				UPDATE links SET title = NULL, params = NULL, path = '/', is_active = false FROM own
				WHERE links.id = own.link_id AND links.organization_id = ${organizationId}`),

		matchAttempts: () => count(sql`UPDATE match_attempts SET ${clearedAttempt} WHERE ${isOfSubject(keys)}`),
	};
};

/**
 * Deletes or anonymises all data of a device or a user of an organization (GDPR, article 17), in one transaction.
 * Counts do not change. The audit record says how much was erased and not whose, because it outlives the data.
 * @throws 404 if nothing is stored, so also the second time.
 */
export const erasePersonalData = async (
	services: Pick<Services, 'background' | 'clicks' | 'clock' | 'db' | 'matchPeppers'>,
	{organization, subject, by}: {organization: Organization; subject: DataSubject; by: Caller},
) => {
	const answer = await inTransaction(services.db, async (trx) => {
		const store = createErasureStore(trx, await findSubject(services, trx, organization.id, subject), services.clicks);
		const devices = await store.devices();
		const deliveries = await store.deliveries();
		const clicks = await store.clicks();
		const [events, matchAttempts, links] = [await store.events(), await store.matchAttempts(), await store.links()];
		const erased: Erased = {
			devices,
			events,
			matchAttempts,
			clicks,
			...(links === 0 ? {} : {links}),
			...(deliveries === 0 ? {} : {deliveries}),
		};
		await recordAudit(trx, services.clock.now(), by, {
			action: 'ERASE',
			entityType: subject.kind === 'device' ? 'Device' : 'AppUser',
			entityId: null,
			organizationId: organization.id,
			details: {...erased},
		});
		return {...subjectJson(subject), erased};
	});
	services.background.run('erase clicks', services.clicks.applyChanges());
	return answer;
};
