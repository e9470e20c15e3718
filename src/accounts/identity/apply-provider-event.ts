import {type Role, storedRole} from '../../platform/config/roles.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {FetchDeps} from './fetch-on-demand.ts';
import {inMirror, type Mirror} from './mirror.ts';
import {endMember, mirrorMemberAndOrganization, updateMember} from './mirror-member.ts';
import {type EventKind, endOrganization, mirrorOrganization} from './mirror-organization.ts';
import {mirrorUser} from './mirror-user.ts';
import {createAppliedEventStore, type ProviderEventResult} from './provider-event-store.ts';
import {
	type ProviderMembership,
	readEndedMembership,
	readMembership,
	readOrganization,
	readRecordId,
	readUser,
} from './provider-payloads.ts';
import {resolveRole, stampRole} from './resolve-role.ts';
import type {ProviderEvent} from './verify-provider-event.ts';

type Context = {services: FetchDeps; by: Caller; id: string};

/** The effect of an event: all its writes are in one transaction with its id, once. */
const applyOnce = async <T>({services, by, id}: Context, apply: (mirror: Mirror) => Promise<T>): Promise<T | null> =>
	inMirror(services, by, async (mirror) =>
		(await createAppliedEventStore(mirror.trx).add(id, mirror.now)) ? apply(mirror) : null,
	);

/**
 * Calls to the provider happen before and after the transaction; neither can fail the event (contract/identity 7).
 */
const membershipCreated = async (context: Context, membership: ProviderMembership): Promise<void> => {
	const {services, id} = context;
	if (await createAppliedEventStore(services.db).isKnown(id)) {
		return;
	}

	const role: Role = await resolveRole(services, membership);
	const member = await applyOnce(context, (mirror) =>
		mirrorMemberAndOrganization(mirror, {membership, role, kind: 'created'}),
	);
	if (member?.clerkMembershipId === membership.id && member.role === storedRole(role)) {
		await stampRole(services, membership, role);
	}
};

/** Parses an event and applies it. @returns false if it has no usable subject. */
type Handler = (context: Context, data: unknown) => Promise<boolean>;

const handler =
	<T>(read: (data: unknown) => T | null, apply: (context: Context, record: T) => Promise<unknown>): Handler =>
	async (context, data) => {
		const record = read(data);
		if (record === null) {
			return false;
		}

		await apply(context, record);
		return true;
	};

const inOneStep =
	<T>(apply: (mirror: Mirror, record: T) => Promise<unknown>) =>
	(context: Context, record: T): Promise<unknown> =>
		applyOnce(context, (mirror) => apply(mirror, record));

const organization = (kind: EventKind): Handler =>
	handler(
		readOrganization,
		inOneStep((mirror, record) => mirrorOrganization(mirror, record, kind)),
	);
const user = (kind: EventKind): Handler =>
	handler(
		readUser,
		inOneStep((mirror, record) => mirrorUser(mirror, record, kind)),
	);

/** The handled events (contract/identity 7). */
const handlers: ReadonlyMap<string, Handler> = new Map([
	['organization.created', organization('created')],
	['organization.updated', organization('updated')],
	['organization.deleted', handler(readRecordId, inOneStep(endOrganization))],
	['user.created', user('created')],
	['user.updated', user('updated')],
	['organizationMembership.created', handler(readMembership, membershipCreated)],
	['organizationMembership.updated', handler(readMembership, inOneStep(updateMember))],
	['organizationMembership.deleted', handler(readEndedMembership, inOneStep(endMember))],
]);

/** Whether events of a type may change something. Others contain one-time codes and messages, which nobody needs here. */
export const isHandled = (type: string): boolean => handlers.has(type);

/**
 * Applies a verified event to the mirror once, with the same outcome in any order. Other types and events without a
 * usable subject are skipped.
 * @returns its outcome. @throws any error that prevents it now; the provider then delivers the event again.
 */
export const applyProviderEvent = async (
	services: FetchDeps,
	by: Caller,
	{id, type, data}: ProviderEvent,
): Promise<ProviderEventResult> => {
	const handle = handlers.get(type);
	if (handle === undefined) {
		services.log.debug({type}, 'unhandled event of the identity provider');
		return {outcome: 'IGNORED', reason: 'Events of this type change nothing here'};
	}

	if (!(await handle({services, by, id}, data))) {
		services.log.warn({type, deliveryId: id}, 'an event of the identity provider lacks its ids');
		return {outcome: 'IGNORED', reason: 'The event refers to unknown ids'};
	}

	return {outcome: 'APPLIED', reason: 'The mirror is already up to date'};
};
