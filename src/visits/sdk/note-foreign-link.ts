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
		const owner: {organization_id: string} | undefined = await services
			.db('links')
			.where({id: linkId})
			.whereNot({organization_id: organizationId})
			.first('organization_id');
		if (owner !== undefined) {
			noteForeignKey(services, {ofKey: organizationId, ofLink: owner.organization_id, deviceId, userAgent});
		}
	}

	throw error;
};
