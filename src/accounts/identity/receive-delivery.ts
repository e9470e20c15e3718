import {isConnectionFault} from '../../platform/db/db.ts';
import {HttpError, identityEventNotFound, required} from '../../platform/errors.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {FetchDeps} from './fetch-on-demand.ts';
import {createDeliveryStore, createIdentityEventStore, type IdentityEvent} from './identity-event-store.ts';
import {applyDelivery, isHandled} from './provider-events.ts';
import type {Delivery} from './webhook-signature.ts';

/** Why it could not be applied, without details that belong only in the log. */
const reasonOf = (error: unknown): string =>
	error instanceof HttpError
		? error.message
		: isConnectionFault(error)
			? 'The database could not be reached'
			: 'Processing failed; see the log of the server';

const applyAndSettle = async (services: FetchDeps, by: Caller, {id, event}: IdentityEvent): Promise<void> => {
	const {db, clock, log} = services;
	const store = createIdentityEventStore(db);
	try {
		await store.settle(id, await applyDelivery(services, by, event), clock.now());
	} catch (error) {
		// If this fails too, the record already says FAILED.
		await store
			.settle(id, {outcome: 'FAILED', reason: reasonOf(error)}, clock.now())
			.catch((cause: unknown) => log.warn({err: cause}, 'could not record why an event failed'));
		throw error;
	}
};

/**
 * Records a verified delivery, applies it to the mirror once, and records the outcome. A repetition is counted. Of types
 * that change nothing only the type is stored.
 * @throws any error that prevents it now; the provider then delivers it again.
 */
export const receiveDelivery = async (services: FetchDeps, by: Caller, delivery: Delivery): Promise<void> => {
	const text = isHandled(delivery.type) ? delivery.text : null;
	const event = await createIdentityEventStore(services.db).note(delivery, text, services.clock.now());
	if (event.outcome === 'FAILED') {
		await applyAndSettle(services, by, event);
	}
};

/** @throws 404. */
export const requireIdentityEvent = async ({db}: Pick<Services, 'db'>, id: string): Promise<IdentityEvent> => {
	return required(await createIdentityEventStore(db).find(id), identityEventNotFound);
};

/**
 * Replays an event, whatever its earlier outcome; one older than the mirror's state changes nothing.
 * @returns the updated event. @throws 404, and any error that prevents it.
 */
export const replayIdentityEvent = async (services: FetchDeps, by: Caller, id: string): Promise<IdentityEvent> => {
	const event = await requireIdentityEvent(services, id);
	await createDeliveryStore(services.db).forget(event.event.id);
	await applyAndSettle(services, by, event);
	return requireIdentityEvent(services, id);
};
