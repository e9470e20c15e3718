import type {TestFn} from 'ava';
import {startDns} from '../../fakes/dns.ts';
import {organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {startService} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';

let lastHost = 0;
/** A host name that no other test of the file uses. */
export const freshHost = (): string => {
	lastHost += 1;
	return `go${lastHost}.acme.test`;
};

/** A service with a fake DNS, for all tests of a file. */
export const domainStage = (test: TestFn) => {
	const stage = startedFor(test, async () => {
		const dns = await startDns();
		const service = await startService({
			DNS_SERVERS: dns.address,
			LINK_DOMAIN: 'go.oplink.test:8443',
			PUBLIC_URL: 'https://api.oplink.test',
		});
		return {
			dns,
			service,
			stop: async () => {
				await service.stop();
				await dns.stop();
			},
		};
	});

	/** An organization with calls to its domains. */
	const setup = async (plan: string | null = 'SCALE') => {
		const org = await organization(stage.service, {plan});
		const base = `/admin/organizations/${org.id}/domains`;
		const operator = admin(stage.service);
		const act = (id: string, action: string) => operator.post(`${base}/${id}/${action}`);
		const add = async (hostname = freshHost()) => {
			const {status, body} = await operator.post(base, {hostname});
			return status === 201 ? body : Promise.reject(new Error(`the domain was not added: ${status}`));
		};
		const approved = async (hostname = freshHost()) => (await act((await add(hostname)).id, 'approve')).body;
		const shared = async () => {
			const {body} = await operator.get(`${base}?limit=100`);
			return body.data.at(-1);
		};
		return {org, base, operator, act, add, approved, shared};
	};

	const statusOn = async (hostname: string, path: string): Promise<number> =>
		(await anonymous(stage.service).get(path, {Host: hostname})).status;

	return {stage, setup, statusOn};
};
