import {admin} from '../../helpers/callers.ts';
import {type Member, member, type Portal} from '../../helpers/portal.ts';

/** Seconds. */
export const MINUTE = 60;
export const DAY = 86_400;

export type LedgerEvent = {id: string; outcome: string; reason: string; type: string; deliveries: number};
type Invoice = {plan: string; amount: number; currency: string; periodStart: string; periodEnd: string};
type Charge = {organizationId: string | null; amount: number; refunded: number};
export type Whose = Pick<Member, 'organization'>;

/** An owner with the calls of the portal that billing tests make. */
const ownerOf = (someone: Member, currency: string) => {
	const {caller} = someone;
	const read = async (path: string) => (await caller.get(path)).body;
	const post = (action: string, body?: object) => caller.post(`/portal/billing/${action}`, body);
	return {
		...someone,
		openCheckout: (plan = 'GROWTH', other = currency) => post('checkout-session', {plan, currency: other}),
		changePlan: (plan: string) => post('change-plan', {plan}),
		cancel: () => post('cancel'),
		resume: () => post('resume'),
		renew: () => post('renew'),
		subscription: async () => (await read('/portal/billing/subscription')).subscription,
		activeSubscription: async () => (await read('/portal/billing/subscription/active')).subscription,
		/** The plan of the organization. */
		plan: async () => (await read('/portal/organization')).plan,
		invoices: async (): Promise<Invoice[]> => (await read('/portal/billing/invoices')).data,
		cards: async (): Promise<object[]> => read('/portal/billing/payment-methods'),
	};
};

const SUBSCRIPTION =
	'plan status gateway gateway_subscription_id gateway_customer_id current_period_start current_period_end ' +
	'cancel_at_period_end scheduled_plan past_due_at';
const INVOICE = 'gateway_invoice_id plan amount_minor period_start period_end';

/** What the stages of both gateways have. @param currency of checkouts. @param gateway the fake that takes the money. */
export const billingStage = (portal: Portal, currency: string, gateway: {charges: Charge[]}) => {
	const {db} = portal.services;
	const rowsOf = async ({organization: {id}}: Whose, table: string, columns: string[], order = 'created_at') =>
		(await db(table)
			.where({organization_id: id})
			.orderBy([order, columns[0] ?? 'id'])
			.select(columns)) as Array<Record<string, unknown>>;
	/** Oldest first. @param more columns. */
	const attemptsOf = (whose: Whose, more: string[] = []) =>
		rowsOf(whose, 'billing_attempts', ['status', 'purpose', 'plan', 'transaction_id', ...more]);
	/** The statuses of the attempts, sorted. */
	const attemptStatuses = async (whose: Whose) => (await attemptsOf(whose)).map(({status}) => status).toSorted();
	/** Money of an organization that the gateway holds: charges without refunds. */
	const heldFor = ({organization}: Whose): number =>
		gateway.charges
			.filter(({organizationId}) => organizationId === organization.id)
			.reduce((sum, {amount, refunded}) => sum + amount - refunded, 0);
	/** The operator's ledger of an organization's events, oldest first. */
	const ledgerOf = async ({organization}: Whose): Promise<LedgerEvent[]> =>
		(await admin(portal).get(`/admin/billing/events?limit=100&orgId=${organization.id}`)).body.data.toReversed();

	/** An owner of a new organization. @param plan as ops would set it. */
	const newOwner = async (plan: string | null = null) => {
		const owner = ownerOf(await member(portal, {role: 'owner', plan}), currency);
		return {
			...owner,
			/**
			 * All that there is to know of the billing: the fields of the subscription, the plan that the organization `uses`,
			 * its number of invoices, and its money. Lists are sorted texts, because `t.like` accepts a list that is too long.
			 */
			state: async () => ({
				...((await owner.subscription()) ?? {status: null}),
				uses: await owner.plan(),
				invoices: (await owner.invoices()).length,
				held: heldFor(owner),
				attempts: (await attemptStatuses(owner)).join(' '),
				outcomes: (await ledgerOf(owner))
					.map(({outcome}) => outcome)
					.toSorted()
					.join(' '),
			}),
		};
	};

	return {
		portal,
		attemptsOf,
		attemptStatuses,
		heldFor,
		ledgerOf,
		newOwner,
		/** A new owner with an open checkout. */
		atCheckout: async (plan = 'GROWTH') => {
			const owner = await newOwner();
			return {...owner, checkout: (await owner.openCheckout(plan)).body};
		},
		/** Sets a plan, as the operator. */
		setPlan: ({organization}: Whose, plan: string | null) => organization.operator.put('/plan', {plan}),
		/** The ledger's row of an event, by the gateway's id; undefined if it has none. */
		entryOf: async (event: {id: string} | undefined): Promise<Record<string, unknown> | undefined> =>
			db('gateway_events')
				.where({event_key: event?.id ?? ''})
				.first(),
		/** All rows of billing, without ids of our own and times of writing. */
		everythingOf: async (whose: Whose) => ({
			subscription: await rowsOf(whose, 'subscriptions', SUBSCRIPTION.split(' ')),
			organization: await db('organizations')
				.where({id: whose.organization.id})
				.first('plan', 'entitled_until', 'status'),
			attempts: await attemptsOf(whose),
			invoices: await rowsOf(whose, 'billing_invoices', INVOICE.split(' '), 'paid_at'),
		}),
	};
};

export type Owner = Awaited<ReturnType<ReturnType<typeof billingStage>['newOwner']>>;
