import {isConnectionFault} from '../../platform/db/db.ts';
import {HttpError, identityEventNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import {applyProviderEvent, isHandled} from './apply-provider-event.ts';
import type {FetchDeps} from './fetch-on-demand.ts';
import {createAppliedEventStore, createProviderEventStore, type RecordedEvent} from './provider-event-store.ts';
import type {SignedEvent} from './verify-provider-event.ts';

/** The reason of a failure, without details that belong only in the log. */
const reasonOf = (error: unknown): string =>
	error instanceof HttpError
		? error.message
		: isConnectionFault(error)
			? 'The database could not be reached'
			: 'Processing failed; see the log of the server';

const applyAndSettle = async (services: FetchDeps, by: Caller, {id, event}: RecordedEvent): Promise<void> => {
	const {db, clock, log} = services;
	const store = createProviderEventStore(db);
	try {
		await store.settle(id, await applyProviderEvent(services, by, event), clock.now());
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
	await createAppliedEventStore(services.db).forget(event.event.id);
	await applyAndSettle(services, by, event);
	return requireProviderEvent(services, id);
};
