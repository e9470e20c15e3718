import {organization} from '../../helpers/builders.ts';
import {admin, anonymous, type Headers} from '../../helpers/callers.ts';
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

let lastHost = 0;

/** An organization with a verified custom domain and these settings. */
export const withDomain = async (service: TestService, settings: object = {}) => {
	lastHost += 1;
	const hostname = `own${lastHost}.acme.test`;
	const acme = await organization(service);
	const domain = await addDomain(service, acme, hostname);
	const change = (changes: object) => admin(service).patch(domain.path, changes);
	const changed = await change(settings);
	const get = (path: string, headers: Headers = {}) => anonymous(service).get(path, {Host: hostname, ...headers});
	return {...acme, hostname, domain, change, changed, get};
};
