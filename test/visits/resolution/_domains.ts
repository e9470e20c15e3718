import {approvedDomain, organization} from '../../helpers/builders.ts';
import {anonymous, type Headers} from '../../helpers/callers.ts';
import type {TestService} from '../../helpers/service.ts';

let lastHost = 0;

/** An organization with a verified custom domain and these settings. */
export const withDomain = async (service: TestService, settings?: object) => {
	lastHost += 1;
	const hostname = `own${lastHost}.acme.test`;
	const acme = await organization(service);
	const domain = await approvedDomain(acme, hostname, settings);
	const change = (changes: object) => acme.operator.patch(`/domains/${domain.id}`, changes);
	const get = (path: string, headers: Headers = {}) => anonymous(service).get(path, {Host: hostname, ...headers});
	return {...acme, hostname, domain, change, get};
};
