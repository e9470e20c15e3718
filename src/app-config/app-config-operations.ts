import {type Caller, recordAudit} from '../audit/audit-log.ts';
import {inTransaction} from '../db/db.ts';
import {appConfigNotFound} from '../errors.ts';
import {requireNoLoop} from '../links/link-fields.ts';
import type {Services} from '../services.ts';
import {type AppConfig, type AppConfigInput, appConfigOf} from './app-config.ts';
import {findAppConfig, putAppConfig} from './app-config-store.ts';

/** @throws 404 until one is set. */
export const getAppConfig = async (
	{db}: Services,
	{organization}: {organization: {id: string}},
): Promise<AppConfig> => {
	const config = await findAppConfig(db, organization.id);
	if (config === null) {
		throw appConfigNotFound();
	}

	return config;
};

/** Sets the whole configuration; what the input leaves out is unset. @throws 400 for a URL that loops. */
export const setAppConfig = (
	services: Services,
	{organization, by, input}: {organization: {id: string}; by: Caller; input: AppConfigInput},
): Promise<AppConfig> => {
	requireNoLoop(services.addresses, input);
	const config = appConfigOf(input);
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
