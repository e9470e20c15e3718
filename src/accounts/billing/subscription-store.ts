import {randomUUID} from 'node:crypto';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import {type Db, onlyRow, translateViolation} from '../../platform/db/db.ts';
import {run, type Sql, sql} from '../../platform/db/sql.ts';
import {organizationNotFound} from '../../platform/errors.ts';
import type {Subscription} from './subscription.ts';

const columns: Columns<Subscription> = columnsOf(
	'id, organization_id, plan, status, gateway, gateway_subscription_id, gateway_customer_id, current_period_start, current_period_end, cancel_at_period_end, scheduled_plan, past_due_at, anchor_at, created_at, updated_at',
);

/** The mutable part of a subscription. */
export type SubscriptionState = Omit<Subscription, 'id' | 'organizationId' | 'createdAt' | 'updatedAt'>;

/** The mutable part of a row. */
export const stateOf = (subscription: Subscription): SubscriptionState => {
	const {id, organizationId, createdAt, updatedAt, ...state} = subscription;
	return state;
};

/** The row when the subscription ends. It keeps its ids: later events of the gateway find it ended. */
export const endedState = (row: Subscription): SubscriptionState => ({
	...stateOf(row),
	status: 'CANCELED',
	cancelAtPeriodEnd: false,
	scheduledPlan: null,
	pastDueAt: null,
});

/** A row without period, schedule and gateway's ids. */
export const emptyState = {
	gatewaySubscriptionId: null,
	currentPeriodStart: null,
	currentPeriodEnd: null,
	cancelAtPeriodEnd: false,
	scheduledPlan: null,
	pastDueAt: null,
	anchorAt: null,
};

const isActive = sql`EXISTS (SELECT 1 FROM organizations AS organization
	WHERE organization.id = subscriptions.organization_id AND organization.status = 'ACTIVE')`;

/** The statements on subscriptions, over a pool or a transaction. Only `apply-subscription.ts` writes by them. */
export const createSubscriptionStore = (db: Db) => {
	const first = async (where: Record<string, unknown>, {lock = false} = {}): Promise<Subscription | null> => {
		const query = db('subscriptions').where(where).first(columns.list);
		return (await (lock ? query.forUpdate() : query)) ?? null;
	};

	/** The organizations of live subscriptions that meet a condition, earliest end of the period first. */
	const listLive = async (condition: Sql): Promise<string[]> => {
		const rows = await run<{id: string}>(
			db,
			sql`SELECT organization_id AS id FROM subscriptions WHERE status IN ('ACTIVE', 'PAST_DUE') AND ${condition}
			ORDER BY current_period_end`,
		);
		return rows.map(({id}) => id);
	};

	return {
		findOf: (organizationId: string) => first({organization_id: organizationId}),

		/**
		 * The organization's row, locked after the organization itself. All writes of billing begin here, which excludes
		 * deadlocks and gives organizations without a row a lock, too.
		 */
		lockOf: async (organizationId: string): Promise<Subscription | null> => {
			await db('organizations').where({id: organizationId}).forNoKeyUpdate().select('id');
			return first({organization_id: organizationId}, {lock: true});
		},

		findByGatewayId: (gateway: Subscription['gateway'], gatewaySubscriptionId: string) =>
			first({gateway, gateway_subscription_id: gatewaySubscriptionId}),

		/** @throws 404 if the organization was deleted meanwhile. */
		upsert: async (
			organizationId: string,
			state: Partial<SubscriptionState> & Pick<SubscriptionState, 'plan' | 'status' | 'gateway'>,
			now: Date,
		): Promise<Subscription> => {
			const values = {...toColumns(state), updated_at: now};
			const rows: Subscription[] = await db('subscriptions')
				.insert({id: randomUUID(), organization_id: organizationId, created_at: now, ...values})
				.onConflict('organization_id')
				.merge(values)
				.returning(columns.list)
				.catch((error: unknown) => {
					throw translateViolation(error, {subscriptions_organization_id_fkey: organizationNotFound});
				});
			return onlyRow(rows);
		},

		/** Organizations whose period has ended by `now` and that are to be renewed, earliest end first. */
		listToRenew: (gateway: Subscription['gateway'], now: Date): Promise<string[]> =>
			listLive(sql`gateway = ${gateway} AND current_period_end <= ${now} AND NOT cancel_at_period_end AND ${isActive}`),

		/** As `listToRenew`: those whose subscription is to end, because it was canceled or the organization is not active. */
		listToEnd: (gateways: ReadonlyArray<Subscription['gateway']>, now: Date): Promise<string[]> =>
			listLive(
				sql`gateway = ANY(${gateways}) AND current_period_end <= ${now} AND (cancel_at_period_end OR NOT ${isActive})`,
			),

		/** Suspended organizations whose subscription a gateway would renew. */
		listSuspended: (): Promise<string[]> =>
			listLive(sql`gateway <> 'MANUAL' AND NOT cancel_at_period_end AND NOT ${isActive}`),
	};
};
