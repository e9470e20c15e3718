import type {Caller} from '../audit/audit-log.ts';
import {createAccessStore} from '../auth/access-store.ts';
import type {Session} from '../auth/session.ts';
import {organizationJson} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';

/**
 * The contents of a session token and the records it resolves to: the actor of audit records, and the mirrored
 * organization and person, each null if not mirrored.
 */
export const resolveSession = async ({db}: Pick<Services, 'db'>, {claims, ...session}: Session, {actor}: Caller) => {
	const store = createAccessStore(db);
	const {organizationId, userId} = session;
	const mirrored = organizationId === null ? null : await store.findMembership({organizationId, userId});
	return {
		claims,
		session,
		actor,
		organization: mirrored === null ? null : organizationJson(mirrored.organization),
		user: await store.findUser(userId),
		isMember: mirrored?.member != null,
	};
};
