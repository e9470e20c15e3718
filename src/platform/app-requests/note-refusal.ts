import type {Services} from '../../services.ts';
import {HttpError} from '../errors.ts';
import type {AppRequest} from './app-request.ts';

const countsOf = ({status, code, limit}: HttpError): AppRequest['counts'] => {
	if (status === 429) {
		return [['limit', limit]];
	}

	return code === 'unknown_device' ? [['unknown_device']] : [];
};

const textIn = (body: unknown, field: string): string | null => {
	const value = (body as Record<string, unknown> | null | undefined)?.[field];
	return typeof value === 'string' ? value.slice(0, 100) : null;
};

/** Notes that a request of an app with a valid CLIENT key was refused. @param body as it was sent, if it was read. */
export const noteRefusal = (
	{appRequests}: Pick<Services, 'appRequests'>,
	{
		error,
		organizationId,
		userAgent,
		body,
	}: {error: unknown; organizationId: string; userAgent: string | undefined; body: unknown},
): void => {
	if (error instanceof HttpError && error.status < 500) {
		appRequests.note({
			organization: {id: organizationId},
			counts: countsOf(error),
			platform: textIn(body, 'platform'),
			deviceId: textIn(body, 'deviceId'),
			userAgent,
			live: {type: 'refusal', text: error.summary},
		});
	}
};
