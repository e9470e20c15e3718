import type {Services} from '../services.ts';
import {createDeliveryStore, createIdentityEventStore} from './identity-event-store.ts';
import {createMembershipStore} from './membership-store.ts';
import {createTombstoneStore} from './tombstone-store.ts';

const DAY_MS = 24 * 3600 * 1000;
/** The provider gives up after two and a half days; the rest allows an operator's manual replays. */
const DELIVERY_DAYS = 30;
/** A session or a late event must not restore deleted records, for as long as one might arrive. */
const TOMBSTONE_DAYS = 400;

/** Deletes old deliveries with their payloads, and roles and deletions that no event can refer to any more. */
export const forgetDeliveries = async ({db, clock}: Pick<Services, 'db' | 'clock'>): Promise<void> => {
	const before = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
	await createDeliveryStore(db).forgetOlderThan(before(DELIVERY_DAYS));
	await createIdentityEventStore(db).forgetOlderThan(before(DELIVERY_DAYS));
	await createMembershipStore(db).forgetRolesAwaitedSince(before(DELIVERY_DAYS));
	await createTombstoneStore(db).forgetOlderThan(before(TOMBSTONE_DAYS));
};
