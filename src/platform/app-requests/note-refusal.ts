import type {IncomingHttpHeaders} from 'node:http';
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

/** The parts of a request that were read before its refusal. */
export type SeenRequest = {organizationId?: string; body?: unknown};
export type OrganizationOf = (services: Services, headers: IncomingHttpHeaders) => Promise<{id: string} | null>;

type Caller = {headers: IncomingHttpHeaders; isOfApp: boolean; organizationOf: OrganizationOf | undefined};

/**
 * Serves a request, and notes a refusal of it if it is an app's with a valid CLIENT key. @param serve adds the parts
 * that it reads to `seen`. @throws as `serve`.
 */
export const notingRefusals = async (
	services: Services,
	{headers, isOfApp, organizationOf}: Caller,
	serve: (seen: SeenRequest) => Promise<void>,
): Promise<void> => {
	const seen: SeenRequest = {};
	try {
		await serve(seen);
	} catch (error) {
		if (error instanceof HttpError && error.status < 500) {
			const named = error.status === 400 ? await organizationOf?.(services, headers) : null;
			const id = (isOfApp ? seen.organizationId : null) ?? named?.id;
			if (id !== undefined) {
				services.appRequests.note({
					organization: {id},
					counts: countsOf(error),
					platform: textIn(seen.body, 'platform'),
					deviceId: textIn(seen.body, 'deviceId'),
					userAgent: headers['user-agent'],
					live: {type: 'refusal', text: error.summary},
				});
			}
		}

		throw error;
	}
};

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
