import {admin} from '../../helpers/callers.ts';
import {type Member, member, type Portal} from '../../helpers/portal.ts';
import type {TestService} from '../../helpers/service.ts';

/** Seconds. */
export const MINUTE = 60;
export const DAY = 86_400;

export type LedgerEvent = {id: string; outcome: string; reason: string; type: string; deliveries: number};
type Invoice = {plan: string; amount: number; currency: string; periodStart: string; periodEnd: string};
export type Whose = Pick<Member, 'organization'>;

/** An owner with the calls of the portal that billing tests make. */
const ownerOf = (someone: Member, currency: string) => {
	const {caller} = someone;
	const read = async (path: string) => (await caller.get(path)).body;
	return {
		...someone,
		openCheckout: (plan = 'GROWTH', other = currency) =>
			caller.post('/portal/billing/checkout-session', {plan, currency: other}),
		changePlan: (plan: string) => caller.post('/portal/billing/change-plan', {plan}),
		subscription: async () => (await read('/portal/billing/subscription')).subscription,
		activeSubscription: async () => (await read('/portal/billing/subscription/active')).subscription,
		/** The plan of the organization. */
		plan: async () => (await read('/portal/organization')).plan,
		invoices: async (): Promise<Invoice[]> => (await read('/portal/billing/invoices')).data,
	};
};

export type Owner = ReturnType<typeof ownerOf>;

/** What the database has of one organization. */
export const rowsIn = ({services}: Pick<TestService, 'services'>) => {
	const rowsOf = async ({organization: {id}}: Whose, table: string, columns: string[], order = 'created_at') =>
		(await services
			.db(table)
			.where({organization_id: id})
			.orderBy([order, columns[0] ?? 'id'])
			.select(columns)) as Array<Record<string, unknown>>;
	/** Oldest first. @param more columns. */
	const attemptsOf = (whose: Whose, more: string[] = []) =>
		rowsOf(whose, 'billing_attempts', ['status', 'purpose', 'plan', 'transaction_id', ...more]);

	return {
		attemptsOf,
		/** The statuses of the attempts, sorted. */
		attemptStatuses: async (whose: Whose) => (await attemptsOf(whose)).map(({status}) => status).toSorted(),
		/** The ledger's row of an event, by the gateway's id; undefined if it has none. */
		entryOf: async (event: {id: string} | undefined): Promise<Record<string, unknown> | undefined> =>
			services
				.db('gateway_events')
				.where({event_key: event?.id ?? ''})
				.first(),
		/** All rows of billing, without ids of our own and times of writing. */
		everythingOf: async (whose: Whose) => ({
			subscription: await rowsOf(whose, 'subscriptions', [
				'plan',
				'status',
				'gateway',
				'gateway_subscription_id',
				'gateway_customer_id',
				'current_period_start',
				'current_period_end',
				'cancel_at_period_end',
				'scheduled_plan',
				'past_due_at',
			]),
			organization: await services
				.db('organizations')
				.where({id: whose.organization.id})
				.first('plan', 'entitled_until', 'status'),
			attempts: await attemptsOf(whose),
			invoices: await rowsOf(
				whose,
				'billing_invoices',
				['gateway_invoice_id', 'plan', 'amount_minor', 'period_start', 'period_end'],
				'paid_at',
			),
		}),
	};
};

/** What the stages of both gateways have. @param currency of checkouts. */
export const billingStage = (portal: Portal, currency: string) => ({
	portal,
	...rowsIn(portal),
	/** An owner of a new organization. @param plan as ops would set it. */
	newOwner: async (plan: string | null = null): Promise<Owner> =>
		ownerOf(await member(portal, {role: 'owner', plan}), currency),
	/** The operator's ledger of an organization's events, oldest first. */
	ledgerOf: async ({organization}: Whose): Promise<LedgerEvent[]> =>
		(await admin(portal).get(`/admin/billing/events?limit=100&orgId=${organization.id}`)).body.data.toReversed(),
});
