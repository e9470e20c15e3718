import {type Caller, recordAudit} from '../../accounts/audit/audit-log.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {Services} from '../../services.ts';
import {type DataSubject, subjectJson} from './data-subject.ts';
import {createErasureStore, type Erased} from './erasure-store.ts';
import {findSubject} from './find-subject.ts';

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
