import type {TestService} from '../helpers/service.ts';

type Place = {portal: TestService};
type Whose = {organization: {id: string}};

const rowsOf = async ({portal}: Place, {organization}: Whose, table: string, columns: string[], order = 'created_at') =>
	(await portal.services
		.db(table)
		.where({organization_id: organization.id})
		.orderBy([order, columns[0] ?? 'id'])
		.select(columns)) as Array<Record<string, unknown>>;

/** What was asked for and what became of it, oldest first. */
export const attemptsOf = (place: Place, whose: Whose) =>
	rowsOf(place, whose, 'billing_attempts', ['status', 'purpose', 'plan', 'transaction_id']);

/** The statuses of the attempts, sorted. */
export const attemptStatuses = async (place: Place, whose: Whose): Promise<unknown[]> =>
	(await attemptsOf(place, whose)).map(({status}) => status).toSorted();

/** What the ledger has of an organization, in words. */
export const ledgerOf = (place: Place, whose: Whose) =>
	rowsOf(place, whose, 'gateway_events', ['type', 'outcome', 'reason', 'deliveries'], 'received_at');

/** What the ledger has of an event, by the gateway's id of it; undefined where it has none. */
export const entryOf = async (
	{portal}: Place,
	event: {id: string} | undefined,
): Promise<Record<string, unknown> | undefined> =>
	portal.services
		.db('gateway_events')
		.where({event_key: event?.id ?? ''})
		.first();

/** All that billing has of an organization, but for ids of our own and times of writing. */
export const everythingOf = async (place: Place, whose: Whose) => ({
	subscription: await rowsOf(place, whose, 'subscriptions', [
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
	organization: await place.portal.services
		.db('organizations')
		.where({id: whose.organization.id})
		.first('plan', 'entitled_until', 'status'),
	attempts: await attemptsOf(place, whose),
	invoices: await rowsOf(
		place,
		whose,
		'billing_invoices',
		['gateway_invoice_id', 'plan', 'amount_minor', 'period_start', 'period_end'],
		'paid_at',
	),
});
