import {randomUUID} from 'node:crypto';
import test from 'ava';
import type {UserRecord} from '../../fakes/identity-provider/records.ts';
import type {Caller} from '../../helpers/callers.ts';
import {portalOf, session} from '../../helpers/portal.ts';

/** For all files of the folder that share a process: each test has users of its own. */
export const portal = portalOf(test);

export type Newcomer = {
	user: UserRecord;
	email: string;
	/** With a session that is pending, because it has no organization. */
	caller: Caller;
	/** With a session of that organization, and the role that the provider knows. */
	in(clerkOrgId: string): Caller;
};

/** A new user at the provider, of whom no event has arrived. */
export const newcomer = (): Newcomer => {
	const email = `${randomUUID().slice(0, 8)}@acme.test`;
	const user = portal.provider.user({email, firstName: 'Mona', lastName: 'Lisa'});
	return {user, email, caller: session(portal, {user}), in: (organization) => session(portal, {user, organization})};
};

export const uniqueName = (): string => `Acme ${randomUUID()}`;

/** The records of an organization name at the provider and here. */
export const organizationsNamed = async (name: string) => ({
	there: [...portal.provider.directory.organizations.values()].filter((one) => one.name === name),
	here: (await portal.services.db('organizations').where({name})) as Array<{
		id: string;
		clerk_org_id: string | null;
		status: string;
	}>,
});

/** Creates an organization through the portal. @returns its answer, and its id at the provider. */
export const createOrganization = async ({caller}: Newcomer, name = uniqueName()) => {
	const {status, text, body} = await caller.post('/portal/onboarding/create-organization', {name});
	if (status !== 201) {
		throw new Error(`create-organization got ${status}: ${text}`);
	}

	const {there} = await organizationsNamed(name);
	return {organization: body as {id: string; orgKey: string; name: string}, clerkOrgId: there[0]?.id ?? ''};
};
