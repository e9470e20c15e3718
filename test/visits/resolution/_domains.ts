import {admin} from '../../helpers/callers.ts';
import type {TestService} from '../../helpers/service.ts';

/** A verified custom domain of the organization, and its path in the API. */
export const addDomain = async (
	service: TestService,
	organization: {id: string},
	hostname: string,
): Promise<{id: string; path: string}> => {
	const domains = `/admin/organizations/${organization.id}/domains`;
	const {id} = (await admin(service).post(domains, {hostname})).body;
	const path = `${domains}/${id}`;
	const {status, text} = await admin(service).post(`${path}/approve`);
	if (status !== 200) {
		throw new Error(`a domain got ${status}: ${text}`);
	}

	return {id, path};
};
