import {createHash, randomUUID} from 'node:crypto';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';

/** A saved card. `token` is encrypted, and no API returns it. */
type PaymentMethod = {id: string; brand: string | null; last4: string | null; token: string; createdAt: Date};

const columns: Columns<PaymentMethod> = columnsOf('id, brand, last4, token, created_at');

const ofOrganization = (db: Db, organizationId: string): Promise<PaymentMethod[]> =>
	db('payment_methods')
		.where({organization_id: organizationId})
		.orderBy([
			{column: 'created_at', order: 'desc'},
			{column: 'id', order: 'desc'},
		])
		.select(columns.list);

/** As the API shows them (contract/billing 3): a bare array, the newest first. */
export const listPaymentMethods = async (db: Db, organizationId: string) =>
	(await ofOrganization(db, organizationId)).map(({token, ...shown}) => shown);

/** The statements on saved cards, over a pool or a transaction. */
export const createPaymentMethodStore = (db: Db) => ({
	/** Saves a card, or marks a known one as the newest. @param sealed the encrypted token. */
	save: async (
		organizationId: string,
		card: {brand: string | null; last4: string | null; token: string; sealed: string},
		now: Date,
	): Promise<void> => {
		await db('payment_methods')
			.insert({
				id: randomUUID(),
				organization_id: organizationId,
				brand: card.brand,
				last4: card.last4,
				token_hash: createHash('sha256').update(card.token).digest(),
				token: card.sealed,
				created_at: now,
			})
			.onConflict(['organization_id', 'token_hash'])
			.merge({created_at: now});
	},

	/** The newest card; null without one. */
	findNewest: async (organizationId: string): Promise<PaymentMethod | null> =>
		(await ofOrganization(db, organizationId))[0] ?? null,
});
