import {randomUUID} from 'node:crypto';
import {type Db, onlyRow} from '../db/db.ts';
import type {Subscription} from './subscription.ts';

type Row = {
	id: string;
	organization_id: string;
	plan: string;
	status: Subscription['status'];
	gateway: Subscription['gateway'];
	gateway_subscription_id: string | null;
	gateway_customer_id: string | null;
	current_period_start: Date | null;
	current_period_end: Date | null;
	cancel_at_period_end: boolean;
	scheduled_plan: string | null;
	past_due_at: Date | null;
	anchor_at: Date | null;
	created_at: Date;
	updated_at: Date;
};

const toSubscription = (row: Row): Subscription => ({
	id: row.id,
	organizationId: row.organization_id,
	plan: row.plan,
	status: row.status,
	gateway: row.gateway,
	gatewaySubscriptionId: row.gateway_subscription_id,
	gatewayCustomerId: row.gateway_customer_id,
	currentPeriodStart: row.current_period_start,
	currentPeriodEnd: row.current_period_end,
	cancelAtPeriodEnd: row.cancel_at_period_end,
	scheduledPlan: row.scheduled_plan,
	pastDueAt: row.past_due_at,
	anchorAt: row.anchor_at,
	createdAt: row.created_at,
	updatedAt: row.updated_at,
});

/** The mutable part of a subscription. */
export type SubscriptionState = Omit<Subscription, 'id' | 'organizationId' | 'createdAt' | 'updatedAt'>;

const columns: {[Field in keyof SubscriptionState]: string} = {
	plan: 'plan',
	status: 'status',
	gateway: 'gateway',
	gatewaySubscriptionId: 'gateway_subscription_id',
	gatewayCustomerId: 'gateway_customer_id',
	currentPeriodStart: 'current_period_start',
	currentPeriodEnd: 'current_period_end',
	cancelAtPeriodEnd: 'cancel_at_period_end',
	scheduledPlan: 'scheduled_plan',
	pastDueAt: 'past_due_at',
	anchorAt: 'anchor_at',
};

/** The mutable part of a row. */
export const stateOf = (subscription: Subscription): SubscriptionState => {
	const {id, organizationId, createdAt, updatedAt, ...state} = subscription;
	return state;
};

/** The row when the subscription ends. It keeps its ids, so that later events of the gateway find it ended. */
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

const toColumns = (state: Partial<SubscriptionState>): Record<string, unknown> =>
	Object.fromEntries(Object.entries(state).map(([field, value]) => [columns[field as keyof SubscriptionState], value]));

const isActive = `EXISTS (SELECT 1 FROM organizations AS organization
	WHERE organization.id = subscriptions.organization_id AND organization.status = 'ACTIVE')`;

/** The statements on subscriptions, over a pool or a transaction. Only `apply-subscription.ts` writes by them. */
export const createSubscriptionStore = (db: Db) => {
	const first = async (where: Record<string, unknown>, {lock = false} = {}): Promise<Subscription | null> => {
		const query = db('subscriptions').where(where).limit(1);
		const [row] = (await (lock ? query.forUpdate() : query)) as Row[];
		return row === undefined ? null : toSubscription(row);
	};

	const live = () => db('subscriptions').whereIn('status', ['ACTIVE', 'PAST_DUE']);
	const ended = (gateways: ReadonlyArray<Subscription['gateway']>, now: Date) =>
		live().whereIn('gateway', gateways).where('current_period_end', '<=', now).orderBy('current_period_end');

	return {
		findOf: (organizationId: string) => first({organization_id: organizationId}),

		/**
		 * The organization's row, locked after the organization itself. All writes of billing begin here, which excludes
		 * deadlocks and gives organizations without a row a lock as well.
		 */
		lockOf: async (organizationId: string): Promise<Subscription | null> => {
			await db('organizations').where({id: organizationId}).forNoKeyUpdate().select('id');
			return first({organization_id: organizationId}, {lock: true});
		},

		findByGatewayId: (gateway: Subscription['gateway'], gatewaySubscriptionId: string) =>
			first({gateway, gateway_subscription_id: gatewaySubscriptionId}),

		upsert: async (
			organizationId: string,
			state: Partial<SubscriptionState> & Pick<SubscriptionState, 'plan' | 'status' | 'gateway'>,
			now: Date,
		): Promise<Subscription> => {
			const values = {...toColumns(state), updated_at: now};
			const rows: Row[] = await db('subscriptions')
				.insert({id: randomUUID(), organization_id: organizationId, created_at: now, ...values})
				.onConflict('organization_id')
				.merge(values)
				.returning('*');
			return toSubscription(onlyRow(rows));
		},

		/** Organizations whose paid period has ended at `now` and goes on, the longest ended first. */
		listEnded: (gateway: Subscription['gateway'], now: Date): Promise<string[]> =>
			ended([gateway], now).where({cancel_at_period_end: false}).whereRaw(isActive).pluck('organization_id'),

		/** As `listEnded`: those that end, because they were canceled or the organization is not active. */
		listEnding: (gateways: ReadonlyArray<Subscription['gateway']>, now: Date): Promise<string[]> =>
			ended(gateways, now)
				.where((query) => query.where({cancel_at_period_end: true}).orWhereRaw(`NOT ${isActive}`))
				.pluck('organization_id'),

		/** Suspended organizations whose subscription a gateway would renew. */
		listSuspended: (): Promise<string[]> =>
			live()
				.whereNot({gateway: 'MANUAL'})
				.where({cancel_at_period_end: false})
				.whereRaw(`NOT ${isActive}`)
				.pluck('organization_id'),
	};
};
