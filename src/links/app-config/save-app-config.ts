import {audited, type Caller} from '../../accounts/audit/audit-log.ts';
import {type Entitled, hasFeature, type PlanDeps} from '../../accounts/plans/entitlements.ts';
import {sharedDomainFull} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import {createDomainStore} from '../domains/domain-store.ts';
import {type AppConfig, type AppConfigInput, appConfigOf} from './app-config.ts';
import {putAppConfig} from './app-config-store.ts';
import {takePlace} from './configured-apps.ts';

/**
 * Replaces the configuration; omitted fields are unset.
 * @throws 409 if the shared link domain's file has no capacity for the iOS app, unless the organization has a served domain
 * of its own, with its own file.
 */
export const saveAppConfig = (
	services: PlanDeps & Pick<Services, 'db'>,
	{organization, by, appConfig}: {organization: Entitled & {id: string}; by: Caller; appConfig: AppConfigInput},
): Promise<AppConfig> => {
	const config = appConfigOf(appConfig);
	return audited(services, 'AppConfig', {organization, by}, async ({trx, now, record}) => {
		await putAppConfig(trx, organization.id, config, now);
		const hasPlace = await takePlace(trx, organization.id, services.config.plans, now);
		const isServed =
			hasPlace ||
			(hasFeature(services, organization, 'custom_domains') &&
				(await createDomainStore(trx, organization.id).hasVerified()));
		if (!isServed) {
			throw sharedDomainFull();
		}

		await record('UPDATE', organization.id, config);
		return config;
	});
};
