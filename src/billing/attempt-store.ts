import {randomUUID} from 'node:crypto';
import {type Db, onlyRow} from '../db/db.ts';
import type {Currency} from '../plans/plans.ts';
import type {GatewayName} from './subscription.ts';

export type AttemptPurpose = 'FIRST' | 'UPGRADE' | 'RENEWAL';
export type AttemptStatus = 'OPEN' | 'PAID' | 'FAILED' | 'EXPIRED' | 'SUPERSEDED' | 'REVIEW';

/** One attempt to take money, and its outcome (contract/billing 5). */
export type BillingAttempt = {
	id: string;
	organizationId: string;
	gateway: GatewayName;
	purpose: AttemptPurpose;
	plan: string;
	currency: Currency;
	/** Minor units. */
	amount: number;
	/** Stripe's price. */
	priceId: string | null;
	status: AttemptStatus;
	/** Matches events: the checkout session or an upgrade's invoice (A), the order (B). */
	gatewayRef: string | null;
	/** The intention (B). */
	gatewayRef2: string | null;
	/** The payment: the invoice (A), the transaction (B). */
	transactionId: string | null;
	periodStart: Date | null;
	periodEnd: Date | null;
	/** Of a renewal: 0 for the first try. */
	retry: number;
	/** Paymob: when a saved card was charged; null: the customer pays on Paymob's page. */
	chargedAt: Date | null;
	lastError: string | null;
	createdAt: Date;
};

type AttemptRow = {
	id: string;
	organization_id: string;
	gateway: GatewayName;
	purpose: AttemptPurpose;
	plan: string;
	currency: Currency;
	amount_minor: string;
	price_id: string | null;
	status: AttemptStatus;
	gateway_ref: string | null;
	gateway_ref2: string | null;
	transaction_id: string | null;
	period_start: Date | null;
	period_end: Date | null;
	retry: number;
	charged_at: Date | null;
	last_error: string | null;
	created_at: Date;
};

const toAttempt = (row: AttemptRow): BillingAttempt => ({
	id: row.id,
	organizationId: row.organization_id,
	gateway: row.gateway,
	purpose: row.purpose,
	plan: row.plan,
	currency: row.currency,
	amount: Number(row.amount_minor),
	priceId: row.price_id,
	status: row.status,
	gatewayRef: row.gateway_ref,
	gatewayRef2: row.gateway_ref2,
	transactionId: row.transaction_id,
	periodStart: row.period_start,
	periodEnd: row.period_end,
	retry: row.retry,
	chargedAt: row.charged_at,
	lastError: row.last_error,
	createdAt: row.created_at,
});

export type NewAttempt = Pick<
	BillingAttempt,
	'organizationId' | 'gateway' | 'purpose' | 'plan' | 'currency' | 'amount' | 'priceId'
> &
	Partial<Pick<BillingAttempt, 'periodStart' | 'periodEnd' | 'retry'>>;

export type AttemptChanges = Partial<
	Pick<
		BillingAttempt,
		'status' | 'gatewayRef' | 'gatewayRef2' | 'transactionId' | 'lastError' | 'periodStart' | 'periodEnd'
	>
>;

const columns: {[Field in keyof Required<AttemptChanges>]: string} = {
	status: 'status',
	gatewayRef: 'gateway_ref',
	gatewayRef2: 'gateway_ref2',
	transactionId: 'transaction_id',
	lastError: 'last_error',
	periodStart: 'period_start',
	periodEnd: 'period_end',
};

/** When an attempt was created, charged or last asked about. GREATEST ignores nulls. */
const LAST_ACTIVITY = 'GREATEST(created_at, charged_at, asked_at)';

/** The statements on attempts, over a pool or a transaction. */
export const createAttemptStore = (db: Db) => {
	const first = async (where: Record<string, unknown>, {lock = false} = {}): Promise<BillingAttempt | null> => {
		const query = db('billing_attempts').where(where).limit(1);
		const [row] = (await (lock ? query.forUpdate() : query)) as AttemptRow[];
		return row === undefined ? null : toAttempt(row);
	};

	return {
		/** A new OPEN attempt, or null if the same try of a renewal exists: the index decides. */
		insert: async (attempt: NewAttempt, now: Date): Promise<BillingAttempt | null> => {
			const rows: AttemptRow[] = await db('billing_attempts')
				.insert({
					id: randomUUID(),
					organization_id: attempt.organizationId,
					gateway: attempt.gateway,
					purpose: attempt.purpose,
					plan: attempt.plan,
					currency: attempt.currency,
					amount_minor: attempt.amount,
					price_id: attempt.priceId,
					status: 'OPEN',
					period_start: attempt.periodStart ?? null,
					period_end: attempt.periodEnd ?? null,
					retry: attempt.retry ?? 0,
					created_at: now,
					updated_at: now,
				})
				.onConflict(db.raw("(organization_id, period_start, retry) WHERE purpose = 'RENEWAL'"))
				.ignore()
				.returning('*');
			return rows.length === 0 ? null : toAttempt(onlyRow(rows));
		},

		find: (organizationId: string, id: string) => first({organization_id: organizationId, id}),

		/** By an id in a gateway's event: no tenant is known yet. Locked until the transaction ends. */
		lockById: (gateway: GatewayName, id: string) => first({gateway, id}, {lock: true}),
		/** Finds the owner of an event before anything is locked. */
		findByRef: (gateway: GatewayName, ref: string) => first({gateway, gateway_ref: ref}),
		lockByRef: (gateway: GatewayName, ref: string) => first({gateway, gateway_ref: ref}, {lock: true}),
		/**
		 * The organization's Stripe upgrade that an invoice pays, locked: the one with this invoice, else the newest one to
		 * that plan whose answer was lost.
		 */
		lockUpgrade: async (
			organizationId: string,
			{invoiceId, plan}: {invoiceId: string; plan: string | null},
		): Promise<BillingAttempt | null> => {
			const [row] = (await db('billing_attempts')
				.where({organization_id: organizationId, gateway: 'GATEWAY_A', purpose: 'UPGRADE'})
				.whereNot({status: 'PAID'})
				.where((query) => query.where({gateway_ref: invoiceId}).orWhere({gateway_ref: null, plan}))
				.orderByRaw('gateway_ref NULLS LAST, created_at DESC')
				.limit(1)
				.forUpdate()) as AttemptRow[];
			return row === undefined ? null : toAttempt(row);
		},
		findByTransaction: (gateway: GatewayName, transactionId: string) => first({gateway, transaction_id: transactionId}),

		update: async (organizationId: string, id: string, changes: AttemptChanges, now: Date): Promise<void> => {
			const values = Object.entries(changes).map(([field, value]) => [columns[field as keyof AttemptChanges], value]);
			await db('billing_attempts')
				.where({organization_id: organizationId, id})
				.update({...Object.fromEntries(values), updated_at: now});
		},

		/** Closes every other open checkout of the organization. @returns those that were closed. */
		supersedeOpen: async (organizationId: string, except: string | null, now: Date): Promise<BillingAttempt[]> => {
			const rows: AttemptRow[] = await db('billing_attempts')
				.where({organization_id: organizationId, status: 'OPEN'})
				.whereNot({purpose: 'RENEWAL'})
				.modify((query) => {
					if (except !== null) {
						query.whereNot({id: except});
					}
				})
				.update({status: 'SUPERSEDED', updated_at: now})
				.returning('*');
			return rows.map(toAttempt);
		},

		/** Closes all open attempts, renewals included: the subscription has ended. */
		supersedeAll: async (organizationId: string, now: Date): Promise<void> => {
			await db('billing_attempts')
				.where({organization_id: organizationId, status: 'OPEN'})
				.update({status: 'SUPERSEDED', updated_at: now});
		},

		/** Closes an open attempt unless a card was charged for it, because that may be paid nevertheless. */
		closeUncharged: async (
			{organizationId, id}: BillingAttempt,
			{status, lastError}: {status: 'FAILED' | 'EXPIRED'; lastError: string},
			now: Date,
		): Promise<void> => {
			await db('billing_attempts')
				.where({organization_id: organizationId, id, status: 'OPEN', charged_at: null})
				.update({status, last_error: lastError, updated_at: now});
		},

		/** The tries of one renewal, first to last. */
		listRenewal: async (organizationId: string, periodStart: Date): Promise<BillingAttempt[]> => {
			const rows: AttemptRow[] = await db('billing_attempts')
				.where({organization_id: organizationId, purpose: 'RENEWAL', period_start: periodStart})
				.orderBy('retry');
			return rows.map(toAttempt);
		},

		/**
		 * Stores that a saved card is being charged, and for which order. @returns false if it was claimed before: the card
		 * must not be charged again.
		 */
		claimCharge: async (
			{organizationId, id}: BillingAttempt,
			{gatewayRef, gatewayRef2}: Pick<BillingAttempt, 'gatewayRef' | 'gatewayRef2'>,
			now: Date,
		): Promise<boolean> => {
			const count = await db('billing_attempts')
				.where({organization_id: organizationId, id, status: 'OPEN', charged_at: null})
				.update({charged_at: now, gateway_ref: gatewayRef, gateway_ref2: gatewayRef2, updated_at: now});
			return count > 0;
		},

		/** The organization's charges without an outcome, oldest first. */
		listUnanswered: async (organizationId: string): Promise<BillingAttempt[]> => {
			const rows: AttemptRow[] = await db('billing_attempts')
				.where({organization_id: organizationId, status: 'OPEN'})
				.whereNotNull('charged_at')
				.orderBy('created_at');
			return rows.map(toAttempt);
		},

		/** Stores when the gateway was asked for the outcome. */
		recordInquiry: async ({organizationId, id}: BillingAttempt, now: Date): Promise<void> => {
			await db('billing_attempts')
				.where({organization_id: organizationId, id})
				.update({asked_at: now, updated_at: now});
		},

		/**
		 * Attempts whose payment may not have been reported, with no activity since `before`, the longest first: open ones,
		 * and superseded ones until their charge has an outcome, or Paymob was asked `lifeMinutes` after they were created.
		 */
		listUnreported: async (
			{before, lifeMinutes}: {before: Date; lifeMinutes: number},
			limit: number,
		): Promise<BillingAttempt[]> => {
			const rows: AttemptRow[] = await db('billing_attempts')
				.where({gateway: 'GATEWAY_B'})
				.whereRaw(`${LAST_ACTIVITY} <= ?`, [before])
				.whereRaw(
					`(status = 'OPEN' OR (status = 'SUPERSEDED' AND gateway_ref IS NOT NULL AND (charged_at IS NOT NULL
						OR asked_at IS NULL OR asked_at < created_at + make_interval(mins => ?))))`,
					[lifeMinutes],
				)
				.orderByRaw(LAST_ACTIVITY)
				.limit(limit);
			return rows.map(toAttempt);
		},
	};
};
