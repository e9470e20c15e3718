import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {inTransaction} from '../db/db.ts';
import {createDomainStore} from '../domains/domain-store.ts';
import {sharedDomainFull} from '../errors.ts';
import type {Services} from '../services.ts';
import {type AppConfig, type AppConfigInput, appConfigOf} from './app-config.ts';
import {putAppConfig} from './app-config-store.ts';
import {takePlace} from './shared-apps.ts';

/**
 * Sets the whole configuration; what it leaves out is unset.
 * @throws 409 where the shared link domain's file has no room for the iOS app, and the organization
 * has no domain of its own, whose file is the organization's alone.
 */
export const saveAppConfig = (
	services: Services,
	{organization, by, appConfig}: {organization: {id: string}; by: Caller; appConfig: AppConfigInput},
): Promise<AppConfig> => {
	const config = appConfigOf(appConfig);
	return inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		await putAppConfig(trx, organization.id, config, now);
		const hasPlace = await takePlace(trx, organization.id, services.config.plans, now);
		if (!hasPlace && !(await createDomainStore(trx, organization.id).hasVerified())) {
			throw sharedDomainFull();
		}

		await recordAudit(trx, now, by, {
			action: 'UPDATE',
			entityType: 'AppConfig',
			entityId: organization.id,
			organizationId: organization.id,
			details: config,
		});
		return config;
	});
};
