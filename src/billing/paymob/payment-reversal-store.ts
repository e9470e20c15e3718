import type {Db} from '../../db/db.ts';

export type ReversalStatus = 'PENDING' | 'VOIDED' | 'REFUNDED';

/** A payment of gateway B that is not kept. PENDING: it is still to be given back. */
export type PaymentReversal = {
	transactionId: string;
	organizationId: string | null;
	attemptId: string | null;
	/** Minor units. */
	amount: number;
	/** Why it is given back; null: somebody did it at the gateway. */
	reason: string | null;
	/** Of the ledger's event that shows what came of it. */
	eventKey: string;
	status: ReversalStatus;
	/** How often we asked for it. */
	tries: number;
};

type Row = {
	transaction_id: string;
	organization_id: string | null;
	attempt_id: string | null;
	amount_minor: string;
	reason: string | null;
	event_key: string;
	status: ReversalStatus;
	tries: number;
};

const toReversal = (row: Row): PaymentReversal => ({
	transactionId: row.transaction_id,
	organizationId: row.organization_id,
	attemptId: row.attempt_id,
	amount: Number(row.amount_minor),
	reason: row.reason,
	eventKey: row.event_key,
	status: row.status,
	tries: row.tries,
});

/** The statements on payments that are not kept, over a pool or a transaction. */
export const createPaymentReversalStore = (db: Db) => ({
	/** Locked until the transaction ends. */
	lock: async (transactionId: string): Promise<PaymentReversal | null> => {
		const [row] = (await db('payment_reversals').where({transaction_id: transactionId}).forUpdate()) as Row[];
		return row === undefined ? null : toReversal(row);
	},

	/** Notes one, once: a transaction that is noted stays as it is. */
	insert: async (reversal: Omit<PaymentReversal, 'tries'>, now: Date): Promise<void> => {
		await db('payment_reversals')
			.insert({
				transaction_id: reversal.transactionId,
				organization_id: reversal.organizationId,
				attempt_id: reversal.attemptId,
				amount_minor: reversal.amount,
				reason: reversal.reason,
				event_key: reversal.eventKey,
				status: reversal.status,
				next_try_at: now,
				created_at: now,
				updated_at: now,
			})
			.onConflict('transaction_id')
			.ignore();
	},

	/** Writes down how it was given back. */
	settle: async (transactionId: string, status: ReversalStatus, now: Date): Promise<void> => {
		await db('payment_reversals').where({transaction_id: transactionId}).update({status, updated_at: now});
	},

	/** Those that are to be given back and whose time has come, the longest waiting first. */
	listDue: async (now: Date, limit: number): Promise<PaymentReversal[]> => {
		const rows: Row[] = await db('payment_reversals')
			.where({status: 'PENDING'})
			.where('next_try_at', '<=', now)
			.orderBy('next_try_at')
			.limit(limit);
		return rows.map(toReversal);
	},

	/** Takes one for a try, until `nextTryAt`. @returns it as it is then, or null where another process has it. */
	claim: async (transactionId: string, now: Date, nextTryAt: Date): Promise<PaymentReversal | null> => {
		const [row] = (await db('payment_reversals')
			.where({transaction_id: transactionId, status: 'PENDING'})
			.where('next_try_at', '<=', now)
			.update({tries: db.raw('tries + 1'), next_try_at: nextTryAt, updated_at: now})
			.returning('*')) as Row[];
		return row === undefined ? null : toReversal(row);
	},
});
