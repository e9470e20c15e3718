import {noteForeignKey} from '../../platform/app-requests/note-foreign-key.ts';
import {HttpError} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {AppEvent} from './sdk-store.ts';

/** Notes an event that was refused because its link is another organization's. @throws the refusal. */
export const noteForeignLink = async (
	services: Pick<Services, 'appRequests' | 'db'>,
	{error, event, userAgent}: {error: unknown; event: AppEvent; userAgent: string | undefined},
): Promise<never> => {
	const {linkId, organizationId, deviceId} = event;
	if (error instanceof HttpError && error.code === 'link_not_found' && linkId !== null) {
		const link: {owner: string} | undefined = await services
			.db('links')
			.where({id: linkId})
			.first({owner: 'organization_id'});
		noteForeignKey(services, {ofKey: organizationId, ofLink: link?.owner, deviceId, userAgent});
	}

	throw error;
};
