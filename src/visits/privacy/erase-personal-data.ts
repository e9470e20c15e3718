import {audited, type Caller} from '../../accounts/audit/audit-log.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {type Db, onlyRow} from '../../platform/db/db.ts';
import {execute, run, sql} from '../../platform/db/sql.ts';
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
const erase = async (trx: Db, keys: SubjectKeys, {forget}: ClickStore['statements']): Promise<Erased> => {
	const {organizationId, deviceIds} = keys;
	const own = sql`organization_id = ${organizationId} AND device_id = ANY(${deviceIds})`;
	// First: an event that arrives meanwhile waits for it, and then finds no device.
	const devices = await execute(
		trx,
		sql`WITH shown AS (DELETE FROM app_requests WHERE ${own}) DELETE FROM devices WHERE ${own}`,
	);
	// Bodies of webhooks about the subject, and their responses. Then the other rows, which find them.
	const deliveries = await execute(
		trx,
		sql`WITH own AS MATERIALIZED (${deliveriesOfSubject(keys)}), answers AS (
				UPDATE delivery_tries SET answer = NULL FROM own WHERE delivery_id = own.id
			)
			UPDATE endpoint_deliveries SET body = NULL, status = CASE status WHEN 'PENDING' THEN 'FAILED' ELSE status END
			FROM own WHERE endpoint_deliveries.id = own.id`,
	);
	// Before the attempts, which may be the only way to find the clicks.
	const {clicks} = onlyRow(
		await run<{clicks: number}>(
			trx,
			sql`WITH own AS MATERIALIZED (${matchClicksOfSubject(keys)}), plain AS (
				${forget}
			), forgotten AS (${clearOwnClicks}
			)
			SELECT CAST(count(*) AS integer) AS clicks FROM forgotten`,
		),
	);
	const events = await execute(
		trx,
		sql`UPDATE events SET device_id = NULL, event_id = NULL, properties = '{}' WHERE ${own}`,
	);
	const matchAttempts = await execute(trx, sql`UPDATE match_attempts SET ${clearedAttempt} WHERE ${isOfSubject(keys)}`);
	// Links that the device created: their texts are cleared, and they no longer resolve.
	const links = await execute(
		trx,
		sql`WITH own AS (
				UPDATE app_links SET device_id = '', content = uuid_send(link_id)
				WHERE ${own} RETURNING link_id
			)
			UPDATE links SET title = NULL, params = NULL, path = '/', is_active = false FROM own
			WHERE links.id = own.link_id AND links.organization_id = ${organizationId}`,
	);
	const rare = {...(links === 0 ? {} : {links}), ...(deliveries === 0 ? {} : {deliveries})};
	return {devices, events, matchAttempts, clicks, ...rare};
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
	const entityType = subject.kind === 'device' ? 'Device' : 'AppUser';
	const answer = await audited(services, entityType, {organization, by}, async ({trx, record}) => {
		const keys = await findSubject(services, trx, organization.id, subject);
		const erased = await erase(trx, keys, services.clicks.statements);
		await record('ERASE', null, erased);
		return {...subjectJson(subject), erased};
	});
	services.background.run('erase clicks', services.clicks.applyChanges());
	return answer;
};
