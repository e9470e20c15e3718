import type {Db} from '../db/db.ts';

/** The statements on deliveries of the identity provider, by their `svix-id`. */
export const createDeliveryStore = (db: Db) => ({
	isKnown: async (id: string): Promise<boolean> =>
		(await db('webhook_deliveries').where({provider: 'identity', delivery_id: id}).select('provider')).length > 0,

	/** @returns whether this is the first time. It counts once the transaction is committed. */
	add: async (id: string, now: Date): Promise<boolean> => {
		const added = await db('webhook_deliveries')
			.insert({provider: 'identity', delivery_id: id, received_at: now})
			.onConflict()
			.ignore()
			.returning('delivery_id');
		return added.length > 0;
	},

	/** Lets a delivery be applied once more. */
	forget: async (id: string): Promise<void> => {
		await db('webhook_deliveries').where({provider: 'identity', delivery_id: id}).delete();
	},

	/** Forgets deliveries of every provider. */
	forgetOlderThan: (then: Date): Promise<number> => db('webhook_deliveries').where('received_at', '<', then).delete(),
});
