import type {ExecutionContext} from 'ava';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {createFakeClock, startService, type TestService} from '../helpers/service.ts';
import {startedIn} from '../helpers/started.ts';

/** A service of one test, whose clock nobody else moves. */
export const ownService = async (
	t: Pick<ExecutionContext, 'teardown'>,
	env: Record<string, string> = {},
	clock = createFakeClock(),
): Promise<TestService> => {
	const own = await startedIn(t, startService(env, clock));
	return own;
};

/** A new organization, as `acme`, and the fields of a new link of it. */
export const linked = async (service: TestService, body: object = {}) => {
	const acme = await organization(service);
	return {acme, ...(await link(acme, body))};
};

/** An organization's report, as its operator gets it. */
export const statsOf = async (service: TestService, {id}: Pick<TestOrganization, 'id'>, query = '') => {
	const {status, body, text} = await admin(service).get(`/admin/organizations/${id}/stats?${query}`);
	if (status !== 200) {
		throw new Error(`${status}: ${text}`);
	}

	return body;
};
