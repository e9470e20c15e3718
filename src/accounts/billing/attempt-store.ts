import {randomUUID} from 'node:crypto';
import type {Knex} from 'knex';
import type {Currency} from '../../platform/config/plans.ts';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, translateViolation} from '../../platform/db/db.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {organizationNotFound} from '../../platform/errors.ts';
import {entriesOf} from '../audit/audit-log.ts';
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
	/** The gateway's own price. */
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
	/**
	 * The number of the attempt within its renewal: 0 is the first charge, then retries; `FIRST_CHECKOUT_NUMBER` and above
	 * are checkouts.
	 */
	retry: number;
	/** When a saved card was charged; null: the customer pays on the gateway's page. */
	chargedAt: Date | null;
	lastError: string | null;
	createdAt: Date;
};

export const attemptEntry = entriesOf('BillingAttempt');

type AttemptRow = Omit<BillingAttempt, 'amount'> & {amountMinor: string};

const columns: Columns<AttemptRow> = columnsOf(
	'id, organization_id, gateway, purpose, plan, currency, amount_minor, price_id, status, gateway_ref, gateway_ref2, transaction_id, period_start, period_end, retry, charged_at, last_error, created_at',
);

const toAttempts = async (rows: PromiseLike<AttemptRow[]>): Promise<BillingAttempt[]> =>
	(await rows).map(({amountMinor, ...row}) => ({...row, amount: Number(amountMinor)}));

const toAttempt = async (rows: PromiseLike<AttemptRow[]>): Promise<BillingAttempt | null> =>
	(await toAttempts(rows))[0] ?? null;

type NewAttempt = Pick<
	BillingAttempt,
	'organizationId' | 'gateway' | 'purpose' | 'plan' | 'currency' | 'amount' | 'priceId'
> &
	Partial<Pick<BillingAttempt, 'periodStart' | 'periodEnd' | 'retry'>>;

type AttemptChanges = Partial<
	Pick<
		BillingAttempt,
		'status' | 'gatewayRef' | 'gatewayRef2' | 'transactionId' | 'lastError' | 'periodStart' | 'periodEnd'
	>
>;

/** When an attempt was created, charged or last asked about. GREATEST ignores nulls. */
const lastActivity = sql`GREATEST(created_at, charged_at, asked_at)`;

/** The number (`retry`) of the first checkout that a customer opens for a renewal; charges of the saved card have lower numbers. */
export const FIRST_CHECKOUT_NUMBER = 100;

const one = (db: Db, where: Record<string, unknown>) =>
	db('billing_attempts').where(where).limit(1).select(columns.list);

/** An open attempt for which no card was charged. */
const uncharged = (db: Db, {organizationId, id}: BillingAttempt) =>
	db('billing_attempts').where({organization_id: organizationId, id, status: 'OPEN', charged_at: null});

/** Closes the open attempts that `narrow` selects. @returns those that were closed. */
const supersede = (
	db: Db,
	{organizationId, now}: {organizationId: string; now: Date},
	narrow: (open: Knex.QueryBuilder) => void,
): Promise<BillingAttempt[]> =>
	toAttempts(
		db('billing_attempts')
			.where({organization_id: organizationId, status: 'OPEN'})
			.modify(narrow)
			.update({status: 'SUPERSEDED', updated_at: now})
			.returning(columns.list),
	);

/** The statements on attempts, over a pool or a transaction. */
export const createAttemptStore = (db: Db) => ({
	/**
	 * A new OPEN attempt, or null if the same attempt of a renewal exists: the index decides. @throws 404 if the
	 * organization was deleted meanwhile.
	 */
	insert: (attempt: NewAttempt, now: Date): Promise<BillingAttempt | null> => {
		const {organizationId, gateway, purpose, plan, currency, amount, priceId} = attempt;
		const {periodStart = null, periodEnd = null, retry = 0} = attempt;
		const inserted = run<AttemptRow>(
			db,
			sql`INSERT INTO billing_attempts (id, organization_id, gateway, purpose, plan, currency, amount_minor, price_id,
				period_start, period_end, retry, status, created_at, updated_at)
			VALUES (${randomUUID()}, ${organizationId}, ${gateway}, ${purpose}, ${plan}, ${currency}, ${amount}, ${priceId},
				${periodStart}, ${periodEnd}, ${retry}, 'OPEN', ${now}, ${now})
			ON CONFLICT (organization_id, period_start, retry) WHERE purpose = 'RENEWAL' DO NOTHING
			RETURNING ${columns.of('billing_attempts')}`,
		).catch((error: unknown) => {
			throw translateViolation(error, {billing_attempts_organization_id_fkey: organizationNotFound});
		});
		return toAttempt(inserted);
	},

	find: (organizationId: string, id: string) => toAttempt(one(db, {organization_id: organizationId, id})),

	/** By an id in a gateway's event: no tenant is known yet. Locked until the transaction ends. */
	lockById: (gateway: GatewayName, id: string) => toAttempt(one(db, {gateway, id}).forUpdate()),
	/** Finds the owner of an event before anything is locked. */
	findByRef: (gateway: GatewayName, ref: string) => toAttempt(one(db, {gateway, gateway_ref: ref})),
	lockByRef: (gateway: GatewayName, ref: string) => toAttempt(one(db, {gateway, gateway_ref: ref}).forUpdate()),
	findByTransaction: (gateway: GatewayName, transactionId: string) =>
		toAttempt(one(db, {gateway, transaction_id: transactionId})),

	/**
	 * The organization's upgrade that an invoice pays, locked: the one with this invoice, else the newest one to
	 * that plan whose answer was lost.
	 */
	lockUpgrade: (organizationId: string, {invoiceId, plan}: {invoiceId: string; plan: string | null}) =>
		toAttempt(
			run(
				db,
				sql`SELECT ${columns.of('billing_attempts')} FROM billing_attempts
				WHERE organization_id = ${organizationId} AND gateway = 'GATEWAY_A' AND purpose = 'UPGRADE' AND status <> 'PAID'
					AND (gateway_ref = ${invoiceId} OR (gateway_ref IS NULL AND plan = ${plan}))
				ORDER BY gateway_ref NULLS LAST, created_at DESC LIMIT 1 FOR UPDATE`,
			),
		),

	update: async (organizationId: string, id: string, changes: AttemptChanges, now: Date): Promise<void> => {
		await db('billing_attempts')
			.where({organization_id: organizationId, id})
			.update({...toColumns(changes), updated_at: now});
	},

	/** Closes every other open checkout of the organization. @returns those that were closed. */
	supersedeOpen: (organizationId: string, except: string | null, now: Date): Promise<BillingAttempt[]> =>
		supersede(db, {organizationId, now}, (open) => {
			open.whereNot({purpose: 'RENEWAL'});
			if (except !== null) {
				open.whereNot({id: except});
			}
		}),

	/** Closes all open attempts, renewals included: the subscription has ended. @returns those that were closed. */
	supersedeAll: (organizationId: string, now: Date): Promise<BillingAttempt[]> =>
		supersede(db, {organizationId, now}, () => {}),

	/** Closes an open attempt unless a card was charged for it, because that may be paid nevertheless. */
	closeUncharged: async (
		attempt: BillingAttempt,
		{status, lastError}: {status: 'FAILED' | 'EXPIRED'; lastError: string},
		now: Date,
	): Promise<void> => {
		await uncharged(db, attempt).update({status, last_error: lastError, updated_at: now});
	},

	/**
	 * Stores that a saved card is being charged, and the order. @returns false if it was claimed before: the card must not
	 * be charged again.
	 */
	claimCharge: async (
		attempt: BillingAttempt,
		refs: Pick<BillingAttempt, 'gatewayRef' | 'gatewayRef2'>,
		now: Date,
	): Promise<boolean> =>
		(await uncharged(db, attempt).update({...toColumns(refs), charged_at: now, updated_at: now})) > 0,

	/** The attempts of one renewal, first to last. */
	listRenewal: (organizationId: string, periodStart: Date) =>
		toAttempts(
			db('billing_attempts')
				.where({organization_id: organizationId, purpose: 'RENEWAL', period_start: periodStart})
				.orderBy('retry')
				.select(columns.list),
		),

	/** The organization's charges without an outcome, oldest first. */
	listUnanswered: (organizationId: string) =>
		toAttempts(
			db('billing_attempts')
				.where({organization_id: organizationId, status: 'OPEN'})
				.whereNotNull('charged_at')
				.orderBy('created_at')
				.select(columns.list),
		),

	/** Stores when the gateway was asked for the outcome. */
	recordInquiry: async ({organizationId, id}: BillingAttempt, now: Date): Promise<void> => {
		await db('billing_attempts').where({organization_id: organizationId, id}).update({asked_at: now, updated_at: now});
	},

	/**
	 * Attempts whose payment may not have been reported, with no activity since `before`, the longest first: open ones,
	 * and superseded ones until their charge has an outcome, or the gateway was asked `lifeMinutes` after they were created.
	 */
	listUnreported: ({before, lifeMinutes}: {before: Date; lifeMinutes: number}, limit: number) =>
		toAttempts(
			run(
				db,
				sql`SELECT ${columns.of('billing_attempts')} FROM billing_attempts
				WHERE gateway = 'GATEWAY_B' AND ${lastActivity} <= ${before}
					AND (status = 'OPEN' OR (status = 'SUPERSEDED' AND gateway_ref IS NOT NULL AND (charged_at IS NOT NULL
						OR asked_at IS NULL OR asked_at < created_at + make_interval(mins => ${lifeMinutes}))))
				ORDER BY ${lastActivity} LIMIT ${limit}`,
			),
		),
});
