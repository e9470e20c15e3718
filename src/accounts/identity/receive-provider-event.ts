import {type Role, storedRole} from '../../platform/config/roles.ts';
import {isConnectionFault} from '../../platform/connection-fault.ts';
import {HttpError, identityEventNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {FetchDeps} from './fetch-on-demand.ts';
import {inMirror, type Mirror} from './mirror.ts';
import {endMember, mirrorMemberAndOrganization, updateMember} from './mirror-member.ts';
import {type EventKind, endOrganization, mirrorOrganization} from './mirror-organization.ts';
import {mirrorUser} from './mirror-user.ts';
import {
	createAppliedEventStore,
	createProviderEventStore,
	type ProviderEventResult,
	providerEventOf,
	type RecordedEvent,
} from './provider-event-store.ts';
import {
	type ProviderMembership,
	readEndedMembership,
	readMembership,
	readOrganization,
	readRecordId,
	readUser,
} from './provider-payloads.ts';
import {resolveRole, stampRole} from './resolve-role.ts';
import type {ProviderEvent, SignedEvent} from './verify-provider-event.ts';

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

/** Whether events of a type may change something. Others contain one-time codes and messages that Oplink does not need. */
const isHandled = (type: string): boolean => handlers.has(type);

/**
 * Applies a verified event to the mirror once, with the same outcome in any order. Other types and events without a
 * usable subject are skipped.
 * @returns its outcome. @throws any error that prevents it now; the provider then delivers the event again.
 */
const applyProviderEvent = async (
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

/** The reason of a failure, without details that belong only in the log. */
const reasonOf = (error: unknown): string =>
	error instanceof HttpError
		? error.message
		: isConnectionFault(error)
			? 'The database could not be reached'
			: 'Processing failed; see the log of the server';

const applyAndSettle = async (services: FetchDeps, by: Caller, recorded: RecordedEvent): Promise<void> => {
	const {db, clock, log} = services;
	const {id} = recorded;
	const store = createProviderEventStore(db);
	try {
		await store.settle(id, await applyProviderEvent(services, by, providerEventOf(recorded)), clock.now());
	} catch (error) {
		// If this fails too, the record already says FAILED.
		await store
			.settle(id, {outcome: 'FAILED', reason: reasonOf(error)}, clock.now())
			.catch((cause: unknown) => log.warn({err: cause}, 'could not record why an event failed'));
		throw error;
	}
};

/**
 * Records a verified event, applies it to the mirror once, and records the outcome. A repetition is counted. Of types
 * that change nothing only the type is stored.
 * @throws any error that prevents it now; the provider then delivers it again.
 */
export const receiveProviderEvent = async (services: FetchDeps, by: Caller, signed: SignedEvent): Promise<void> => {
	const text = isHandled(signed.type) ? signed.text : null;
	const event = await createProviderEventStore(services.db).note(signed, text, services.clock.now());
	if (event.outcome === 'FAILED') {
		await applyAndSettle(services, by, event);
	}
};

/** @throws 404. */
export const requireProviderEvent = async ({db}: Pick<Services, 'db'>, id: string): Promise<RecordedEvent> => {
	return required(await createProviderEventStore(db).find(id), identityEventNotFound);
};

/**
 * Replays an event, whatever its earlier outcome; one older than the mirror's state changes nothing.
 * @returns the updated event. @throws 404, and any error that prevents it.
 */
export const replayProviderEvent = async (services: FetchDeps, by: Caller, id: string): Promise<RecordedEvent> => {
	const event = await requireProviderEvent(services, id);
	await createAppliedEventStore(services.db).forget(event.eventKey);
	await applyAndSettle(services, by, event);
	return requireProviderEvent(services, id);
};
