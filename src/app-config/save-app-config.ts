import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {inTransaction} from '../db/db.ts';
import type {Services} from '../services.ts';
import {type AppConfig, type AppConfigInput, appConfigOf} from './app-config.ts';
import {putAppConfig} from './app-config-store.ts';

/** Sets the whole configuration; what it leaves out is unset. */
export const saveAppConfig = (
	services: Services,
	{organization, by, appConfig}: {organization: {id: string}; by: Caller; appConfig: AppConfigInput},
): Promise<AppConfig> => {
	const config = appConfigOf(appConfig);
	return inTransaction(services.db, async (trx) => {
		const now = services.clock.now();
		await putAppConfig(trx, organization.id, config, now);
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
