import {withLease} from '../db/lease.ts';
import {takeAway} from '../identity/unanswered.ts';
import type {Services} from '../services.ts';
import {createOrganizationStore, type Organization} from './organization-store.ts';

/**
 * Deletes an organization at the identity provider; one that is gone there already is fine. Without a key for the
 * provider nothing can be asked of it, and the organization goes here alone. @throws 403, 502.
 */
export const deleteAtProvider = async (
	{provider, config}: Pick<Services, 'provider' | 'config'>,
	clerkOrgId: string,
): Promise<void> => {
	if (config.idp.apiKey !== null) {
		await takeAway(
			provider.deleteOrganization(clerkOrgId),
			async () => (await provider.getOrganization(clerkOrgId)) === null,
		);
	}
};

/**
 * Gives an organization the name at the provider that it has here, for the provider's own pages and e-mails. One at a
 * time and with the name of now, so that of two changes the later one stays.
 */
export const renameAtProvider = async (services: Services, {id, clerkOrgId}: Organization): Promise<void> => {
	const {db, provider, config} = services;
	if (clerkOrgId === null || config.idp.apiKey === null) {
		return;
	}

	await withLease(services, `organization-name:${id}`, async () => {
		const store = createOrganizationStore(db);
		const organization = await store.findById(id);
		const told = organization && (await provider.updateOrganization(clerkOrgId, {name: organization.name}));
		if (told !== null) {
			await store.noteProviderName(id, told);
		}
	});
};
