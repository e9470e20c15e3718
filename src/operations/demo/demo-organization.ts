import {createOrganization} from '../../accounts/administration/organization-operations.ts';
import {provisionedKeyCards} from '../../accounts/api-keys/rotation.ts';
import {systemCaller} from '../../accounts/audit/audit-log.ts';
import {createOrganizationStore} from '../../accounts/organizations/organization-store.ts';
import {saveAppConfig} from '../../links/app-config/save-app-config.ts';
import {createLink} from '../../links/links/create-link.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {Services} from '../../services.ts';

/** The example that a first start creates: an organization with API access, an app and one link. */
type Demo = {
	orgKey: string;
	shortCode: string;
	serverKey: string | null;
	clientKey: string | null;
	/** Whether this start created it. */
	isNew: boolean;
};

const SHORT_CODE = 'hello';

const makeDemo = async (services: Services): Promise<void> => {
	const by = systemCaller;
	const organization = await createOrganization(services, {fields: {name: 'Demo', plan: 'GROWTH'}, by});
	await saveAppConfig(services, {
		organization,
		by,
		appConfig: {
			errorPages: true,
			ios: {bundleId: 'com.example.demo', teamId: 'ABCDE12345', appStoreId: '123456789', scheme: 'oplinkdemo'},
			android: [
				{
					packageName: 'com.example.demo',
					sha256Fingerprints: [Array.from({length: 32}, () => '00').join(':')],
					scheme: 'oplinkdemo',
				},
			],
		},
	});
	await createLink(services, {
		organization,
		by,
		// No fallback URL: a desktop then shows the QR code for a phone, instead of redirecting.
		fields: {
			path: '/hello',
			shortCode: SHORT_CODE,
			title: 'Hello from Oplink',
			og: {title: 'Hello from Oplink', description: 'A deep link that you host yourself.'},
			params: {from: 'demo'},
		},
	});
	await services
		.db('settings')
		.where({name: 'demo'})
		.update({value: JSON.stringify({organizationId: organization.id})});
};

/**
 * The demo organization, created on the first start only: a deleted one stays deleted. One transaction creates it:
 * after an interrupted first start the next one creates it, and of two concurrent starts one does.
 * @returns null if it was deleted.
 */
export const ensureDemo = async (services: Services): Promise<Demo | null> => {
	const isNew = await inTransaction(services.db, async (trx) => {
		const noted = await trx('settings')
			.insert({name: 'demo', value: '{}'})
			.onConflict('name')
			.ignore()
			.returning('name');
		if (noted.length > 0) {
			await makeDemo({...services, db: trx});
		}

		return noted.length > 0;
	});
	const [note] = (await services.db('settings').where({name: 'demo'})) as Array<{value: {organizationId: string}}>;
	const organization =
		note === undefined ? null : await createOrganizationStore(services.db).findById(note.value.organizationId);
	if (organization === null) {
		return null;
	}

	const {sdkKey, serverKey} = await provisionedKeyCards(services, organization);
	return {
		orgKey: organization.orgKey,
		shortCode: SHORT_CODE,
		serverKey: serverKey?.displayKey ?? null,
		clientKey: sdkKey?.displayKey ?? null,
		isNew,
	};
};
