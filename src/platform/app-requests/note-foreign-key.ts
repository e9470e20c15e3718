import type {Services} from '../../services.ts';
import type {AppRequest} from './app-request.ts';

/**
 * Notes that an app sent the key of one organization with a click or link of another, for both: the mistake may be in
 * either's app, and neither learns the other's name.
 */
export const noteForeignKey = (
	{appRequests}: Pick<Services, 'appRequests'>,
	{
		ofKey,
		ofLink,
		...request
	}: {ofKey: string | undefined; ofLink: string | undefined} & Pick<AppRequest, 'platform' | 'deviceId' | 'userAgent'>,
): void => {
	if (ofKey !== undefined && ofLink !== undefined && ofKey !== ofLink) {
		appRequests.note({...request, organization: {id: ofKey}, counts: [['foreign_key', 'key']]});
		appRequests.note({...request, organization: {id: ofLink}, counts: [['foreign_key', 'link']]});
	}
};
