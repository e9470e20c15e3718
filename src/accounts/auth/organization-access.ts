import {
	notAMember,
	noValidOrganization,
	opsRequired,
	organizationNotActive,
	organizationNotFound,
	required,
	validationFailed,
} from '../../platform/errors.ts';
import {isUuid} from '../../platform/text.ts';
import type {Services} from '../../services.ts';
import type {Actor} from '../audit/audit-log.ts';
import {createOrganizationStore, type Organization} from '../organizations/organization-store.ts';
import {createAccessStore, type ProviderIds, type User} from './access-store.ts';
import type {Session} from './session.ts';

/** The organization and actor of a portal request. `user` is null for an ops session that is not mirrored. */
type Access = {organization: Organization; user: User | null; actor: Actor};

/** A person as audit records name them: by our id if mirrored, else by the provider's. */
export const actorOf = (type: Actor['type'], session: Session, user: User | null): Actor => ({
	type,
	id: user?.id ?? session.userId,
	name: user?.name || user?.email || session.email,
});

/**
 * Admits a session of the ops organization. That organization need not be mirrored here, but a removed member loses
 * access at once, like any other (contract/identity 4).
 * @throws 403 for everyone else.
 */
export const requireOps = async (
	{db}: Pick<Services, 'db'>,
	session: Session,
): Promise<{actor: Actor; user: User | null}> => {
	const {organizationId, userId} = session;
	if (!session.isOps || organizationId === null) {
		throw opsRequired();
	}

	const store = createAccessStore(db);
	const named = {organizationId, userId};
	const mirrored = await store.findMembership(named);
	const isCutOff =
		mirrored?.organization.status === 'SUSPENDED' || (mirrored?.member == null && (await store.hasEnded(named)));
	if (isCutOff) {
		throw opsRequired();
	}

	const user = mirrored?.member ?? (await store.findUser(userId));
	return {actor: actorOf('ADMIN', session, user), user};
};

/**
 * The customer that an ops session acts for (`?orgId=`, contract/identity 5), even if suspended.
 * @throws 400, 403, 404.
 */
const passThrough = async (services: Pick<Services, 'db'>, session: Session, orgId: string): Promise<Access> => {
	const {user} = await requireOps(services, session);
	if (!isUuid(orgId)) {
		throw validationFailed([{message: 'orgId must be a UUID', field: 'orgId'}]);
	}

	const organization = required(await createOrganizationStore(services.db).findById(orgId), organizationNotFound);
	return {organization, user, actor: actorOf('ADMIN_PASSTHROUGH', session, user)};
};

/**
 * The organization that a session acts for. Its membership is checked in the database on every call (contract/identity
 * 4, contract/requests 9).
 * @param orgId the `orgId` of the query, for ops sessions only. @param fetchMissing fetches records that are not mirrored yet
 * from the provider (contract/identity 11); null disables that. @throws 403; 400 and 404 for an ops session's
 * `orgId`.
 */
export const requireAccess = async (
	services: Pick<Services, 'db'>,
	session: Session,
	{orgId, fetchMissing}: {orgId: string | null; fetchMissing: ((named: ProviderIds) => Promise<unknown>) | null},
): Promise<Access> => {
	if (session.isOps && orgId !== null) {
		return passThrough(services, session, orgId);
	}

	const {userId} = session;
	const named = {organizationId: required(session.organizationId, noValidOrganization), userId};
	const store = createAccessStore(services.db);
	let mirrored = await store.findMembership(named);
	// The ops organization is not a customer, so it is not mirrored.
	if (mirrored?.member == null && fetchMissing !== null && !session.isOps) {
		await fetchMissing(named);
		mirrored = await store.findMembership(named);
	}

	const {organization, member} = required(mirrored, noValidOrganization);
	const user = required(member, notAMember);
	if (organization.status !== 'ACTIVE') {
		throw organizationNotActive();
	}

	return {organization, user, actor: actorOf(session.isOps ? 'ADMIN' : 'USER', session, user)};
};
