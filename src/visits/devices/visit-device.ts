import {allowances, limitSubjectOf} from '../../platform/config/limits.ts';
import {storageLimits} from '../../platform/config/policies.ts';
import {execute, prepared, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import type {Attribution} from './attribution.ts';
import {deviceRow, insertDeviceSql} from './device-store.ts';

/**
 * Registers the device of a visit of `/data` (contract/resolution 2), and the link that it opens. A visit needs no key, so
 * new devices per address and per organization are limited each day; later ones are registered by their session.
 */
export const registerVisitDevice = async (
	{db, clock, limiter}: Pick<Services, 'db' | 'clock' | 'limiter'>,
	{
		organizationId,
		deviceId,
		opened,
		ip,
	}: {organizationId: string; deviceId: string; opened: {linkId: string; attribution: Attribution}; ip: string},
): Promise<void> => {
	const now = clock.now();
	const attribution = JSON.stringify(opened.attribution);
	const seen = await execute(
		db,
		prepared(
			'see a device',
			sql`UPDATE devices SET last_seen_at = ${now}, opened_link_id = ${opened.linkId}, opened_at = ${now},
					opened_attribution = ${attribution}
				WHERE organization_id = ${organizationId} AND device_id = ${deviceId}`,
		),
	);
	if (seen > 0 || (await limiter.take(allowances.visitDevices, limitSubjectOf(ip))) > 0) {
		return;
	}

	const row = JSON.stringify({...deviceRow({organizationId, deviceId, now, opened}), by_visit: true});
	const {visitDevicesPerOrganizationAndDay: most} = storageLimits();
	// The organization is locked first, as a removal of it does; nothing is registered of one that is gone.
	await execute(
		db,
		prepared(
			'register a device of a visit',
			sql`WITH owner AS MATERIALIZED (
					SELECT id FROM organizations WHERE id = ${organizationId} FOR KEY SHARE
				), counted AS (
					INSERT INTO visit_devices AS known (organization_id, day, count)
					SELECT id, ${now.toISOString().slice(0, 10)}::date, 1 FROM owner
					ON CONFLICT (organization_id) DO UPDATE SET day = excluded.day,
						count = CASE WHEN known.day = excluded.day THEN known.count + 1 ELSE 1 END
					WHERE known.day <> excluded.day OR known.count < ${most}
					RETURNING 1
				) ${insertDeviceSql(row, sql`WHERE EXISTS (SELECT FROM counted)`)}`,
		),
	);
};
