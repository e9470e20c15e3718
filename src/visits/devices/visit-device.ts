import {allowances, limitSubjectOf} from '../../platform/config/limits.ts';
import {storageLimits} from '../../platform/config/policies.ts';
import {type Prepared, runPrepared} from '../../platform/db/prepared.ts';
import type {Services} from '../../services.ts';
import type {Attribution} from './attribution.ts';
import {deviceRow, insertDeviceSql} from './device-store.ts';

const see: Prepared = {
	name: 'see a device',
	text: `UPDATE devices SET last_seen_at = $3, opened_link_id = $4, opened_at = $3, opened_attribution = $5
		WHERE organization_id = $1 AND device_id = $2 RETURNING 1`,
};

/** The organization is locked first, as a removal of it does; nothing is registered of one that is gone. */
const register: Prepared = {
	name: 'register a device of a visit',
	text: `WITH owner AS MATERIALIZED (
			SELECT id FROM organizations WHERE id = $2 FOR KEY SHARE
		), counted AS (
			INSERT INTO visit_devices AS known (organization_id, day, count) SELECT id, CAST($3 AS date), 1 FROM owner
			ON CONFLICT (organization_id) DO UPDATE SET day = excluded.day,
				count = CASE WHEN known.day = excluded.day THEN known.count + 1 ELSE 1 END
			WHERE known.day <> excluded.day OR known.count < $4
			RETURNING 1
		) ${insertDeviceSql('$1', 'WHERE EXISTS (SELECT FROM counted)')}`,
};

/**
 * Registers the device of a visit of `/data` (contract/resolution 2), and the link that it opens. A visit needs no key, so new devices per address
 * and per organization are limited each day; later ones are registered by their session.
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
	if (
		(await runPrepared(db, see, [organizationId, deviceId, now, opened.linkId, JSON.stringify(opened.attribution)]))
			.length > 0
	) {
		return;
	}

	if ((await limiter.take(allowances.visitDevices, limitSubjectOf(ip))) > 0) {
		return;
	}

	const row = {...deviceRow({organizationId, deviceId, now, opened}), by_visit: true};
	const {visitDevicesPerOrganizationAndDay: most} = storageLimits();
	await runPrepared(db, register, [JSON.stringify(row), organizationId, now.toISOString().slice(0, 10), most]);
};
