import {type Columns, columnsOf, toColumns} from '../../../platform/db/columns.ts';
import type {Db} from '../../../platform/db/db.ts';

export type ReversalStatus = 'PENDING' | 'VOIDED' | 'REFUNDED';

/** The refund of a Paymob payment; PENDING until it is made. */
export type PaymentReversal = {
	transactionId: string;
	organizationId: string | null;
	attemptId: string | null;
	/** Minor units. */
	amount: number;
	/** Why Oplink refunds it; null: it was refunded at Paymob. */
	reason: string | null;
	/** The ledger's event that shows the result. */
	eventKey: string;
	status: ReversalStatus;
	tries: number;
};

type Row = Omit<PaymentReversal, 'amount'> & {amountMinor: string};

const columns: Columns<Row> = columnsOf(
	'transaction_id, organization_id, attempt_id, amount_minor, reason, event_key, status, tries',
);

const toReversal = ({amountMinor, ...row}: Row): PaymentReversal => ({...row, amount: Number(amountMinor)});

/** The statements on refunds, over a pool or a transaction. */
export const createPaymentReversalStore = (db: Db) => ({
	/** Locked until the transaction ends. */
	lock: async (transactionId: string): Promise<PaymentReversal | null> => {
		const row: Row | undefined = await db('payment_reversals')
			.where({transaction_id: transactionId})
			.forUpdate()
			.first(columns.list);
		return row === undefined ? null : toReversal(row);
	},

	/** Adds a refund, unless the transaction has one already. */
	insert: async ({amount, ...reversal}: Omit<PaymentReversal, 'tries'>, now: Date): Promise<void> => {
		await db('payment_reversals')
			.insert({
				...toColumns(reversal),
				amount_minor: amount,
				next_try_at: now,
				created_at: now,
				updated_at: now,
			})
			.onConflict('transaction_id')
			.ignore();
	},

	/** Stores the result. */
	settle: async (transactionId: string, status: ReversalStatus, now: Date): Promise<void> => {
		await db('payment_reversals').where({transaction_id: transactionId}).update({status, updated_at: now});
	},

	/** PENDING refunds that are due, the longest waiting first. */
	listDue: async (now: Date, limit: number): Promise<PaymentReversal[]> => {
		const rows: Row[] = await db('payment_reversals')
			.where({status: 'PENDING'})
			.where('next_try_at', '<=', now)
			.orderBy('next_try_at')
			.limit(limit)
			.select(columns.list);
		return rows.map(toReversal);
	},

	/** Claims a refund for an attempt, until `nextTryAt`. @returns null if another process has it. */
	claim: async (transactionId: string, now: Date, nextTryAt: Date): Promise<PaymentReversal | null> => {
		const [row]: Row[] = await db('payment_reversals')
			.where({transaction_id: transactionId, status: 'PENDING'})
			.where('next_try_at', '<=', now)
			.increment('tries')
			.update({next_try_at: nextTryAt, updated_at: now})
			.returning(columns.list);
		return row === undefined ? null : toReversal(row);
	},
});
