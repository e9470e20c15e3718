import type {IdentityProvider} from './identity-provider.ts';

/** From the least to the most privileged. */
export const roles = ['viewer', 'analyst', 'developer', 'admin', 'owner'] as const;

/** Fixed, so that a service with a persistent database recognizes them after a restart. */
export const acmeId = 'org_2DevelopmentAcme';
export const opsId = 'org_2DevelopmentOps';

const seededId = (prefix: string, name: string): string =>
	`${prefix}_2Development${name[0]?.toUpperCase()}${name.slice(1)}`;

/** One organization with a member of each role, and an operator in the ops organization. */
export const seedDevelopment = (idp: IdentityProvider): void => {
	const acme = idp.organization({id: acmeId, name: 'Acme'});
	for (const role of roles.toReversed()) {
		const user = idp.user({id: seededId('user', role), email: `${role}@acme.test`, firstName: 'Acme', lastName: role});
		idp.member({id: seededId('orgmem', role), organization: acme, user, role});
	}

	const operator = idp.user({
		id: seededId('user', 'ops'),
		email: 'ops@oplink.test',
		firstName: 'Oplink',
		lastName: 'ops',
	});
	idp.member({id: seededId('orgmem', 'ops'), organization: idp.opsOrganization, user: operator, role: 'owner'});
};
