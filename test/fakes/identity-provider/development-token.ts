import {acmeId, roles} from './development-seed.ts';
import {findUser, findUserByEmail, membershipsWhere} from './directory.ts';
import type {IdentityProvider} from './identity-provider.ts';
import {notFound, paramValue} from './provider-errors.ts';
import type {UserRecord} from './records.ts';

/** A user by id or address; an unknown address signs up. */
export const userOf = (idp: IdentityProvider, given: string): UserRecord => {
	if (!given.includes('@')) {
		return findUser(idp.directory, given);
	}

	return findUserByEmail(idp.directory, given) ?? idp.user({email: given, firstName: given.split('@')[0] ?? null});
};

/** An organization by id or name, `ops` for the operator's, `none` for no organization. */
export const organizationOf = (idp: IdentityProvider, given: string): string | null => {
	if (given === 'none') {
		return null;
	}

	const all = [...idp.directory.organizations.values()];
	const found = given === 'ops' ? idp.opsOrganization : all.find(({id, name}) => id === given || name === given);
	if (found === undefined) {
		throw notFound('Organization');
	}

	return found.id;
};

const defaultAddress = (query: URLSearchParams): string => {
	const role = query.get('role') ?? 'owner';
	if (query.get('org') === 'ops') {
		return 'ops@oplink.test';
	}

	return roles.some((known) => known === role) ? `${role}@acme.test` : 'viewer@acme.test';
};

/**
 * The session token that `user`, `org`, `role` and `ttl` ask for. Without a user it is Acme's member of that role;
 * without an organization it is the one that the user joined last.
 */
export const developmentToken = (idp: IdentityProvider, query: URLSearchParams): Promise<string> => {
	const user = userOf(idp, query.get('user') ?? defaultAddress(query));
	const asked = query.get('org');
	const joined = membershipsWhere(idp.directory, {userId: user.id}).at(-1)?.organizationId ?? null;
	const organization = asked === null ? joined : organizationOf(idp, asked);
	const role = query.get('role');
	const ttl = query.has('ttl') ? Number(query.get('ttl')) : 60;
	if (!Number.isInteger(ttl)) {
		throw paramValue('ttl', 'must be seconds');
	}

	return idp.token({
		user,
		organization: query.has('user') || asked !== null ? organization : acmeId,
		ttl,
		...(role === null ? {} : {role}),
		...(query.get('version') === '1' ? {version: 1} : {}),
	});
};
