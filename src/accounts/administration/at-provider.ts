import {withLease} from '../../platform/db/lease.ts';
import type {Services} from '../../services.ts';
import {confirmDeletion} from '../identity/unanswered.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';

/**
 * Deletes an organization at the identity provider; succeeds if it is already gone. Without the provider's key it is
 * deleted here only.
 * @throws 403, 502.
 */
export const deleteAtProvider = async (
	{provider, config}: Pick<Services, 'provider' | 'config'>,
	clerkOrgId: string,
): Promise<void> => {
	if (config.idp.apiKey !== null) {
		await confirmDeletion(
			provider.deleteOrganization(clerkOrgId),
			async () => (await provider.getOrganization(clerkOrgId)) === null,
		);
	}
};

/**
 * Copies an organization's name to the provider, for its pages and e-mails. Serialized, and with the current name, so
 * that the later of two changes wins.
 */
export const renameAtProvider = async (
	services: Pick<Services, 'clock' | 'config' | 'db' | 'provider'>,
	{id, clerkOrgId}: Organization,
): Promise<void> => {
	const {db, provider, config} = services;
	if (clerkOrgId === null || config.idp.apiKey === null) {
		return;
	}

	await withLease(services, `organization-name:${id}`, async () => {
		const store = createOrganizationStore(db);
		const organization = await store.findById(id);
		const updated = organization && (await provider.updateOrganization(clerkOrgId, {name: organization.name}));
		if (updated !== null) {
			await store.noteProviderName(id, updated);
		}
	});
};
