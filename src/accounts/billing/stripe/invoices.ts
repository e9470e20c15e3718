import type Stripe from 'stripe';
import {createAttemptStore} from '../attempt-store.ts';
import {createInvoiceStore, type NewInvoice} from '../invoice-store.ts';
import type {Projection} from './read-subscription.ts';
import {planOfPrice, type RemoteSubscription} from './read-subscription.ts';
import {dateOf, idOf} from './stripe-client.ts';

/** The last line has the period that was bought; a proration's credit precedes it. */
const toInvoice = (invoice: Stripe.Invoice): Omit<NewInvoice, 'organizationId' | 'plan' | 'paidAt'> => {
	const line = invoice.lines.data.at(-1);
	return {
		gateway: 'GATEWAY_A',
		gatewayInvoiceId: invoice.id ?? '',
		number: invoice.number ?? invoice.id ?? '',
		amount: invoice.amount_paid,
		currency: 'USD',
		periodStart: line === undefined ? null : dateOf(line.period.start),
		periodEnd: line === undefined ? null : dateOf(line.period.end),
		hostedUrl: invoice.hosted_invoice_url ?? null,
		pdfUrl: invoice.invoice_pdf ?? null,
	};
};

/** Records paid invoices, each once. @param plan the plan of those whose price belongs to none. */
export const recordStripeInvoices = async (
	{services, trx, organizationId, now}: Projection,
	invoices: Stripe.Invoice[],
	plan: string,
): Promise<void> => {
	for (const invoice of invoices) {
		const priceId = idOf(invoice.lines.data.at(-1)?.pricing?.price_details?.price);
		const {paid_at: paidAt} = invoice.status_transitions;
		await createInvoiceStore(trx).insert(
			{
				...toInvoice(invoice),
				organizationId,
				plan: planOfPrice(services.config.plans, priceId) ?? plan,
				paidAt: paidAt === null ? now : dateOf(paidAt),
			},
			now,
		);
	}
};

const UPGRADE = 'subscription_update';

/**
 * Settles upgrades: a paid invoice makes its attempt PAID, a void one EXPIRED. An attempt whose answer was lost has no
 * invoice, and is found by its plan. @returns the attempt that was paid.
 */
export const settleUpgrades = async (
	{trx, organizationId, now}: Projection,
	remote: RemoteSubscription,
	paid: Stripe.Invoice[],
): Promise<string | null> => {
	const attempts = createAttemptStore(trx);
	let settled: string | null = null;
	for (const {id, billing_reason: reason} of paid) {
		const isNew = reason === UPGRADE && id && (await attempts.findByTransaction('GATEWAY_A', id)) === null;
		const attempt = isNew ? await attempts.lockUpgrade(organizationId, {invoiceId: id, plan: remote.plan}) : null;
		if (isNew && attempt !== null) {
			await attempts.update(organizationId, attempt.id, {status: 'PAID', transactionId: id}, now);
			settled = attempt.id;
		}
	}

	const {latestInvoice: latest} = remote;
	if (latest?.id && latest.status === 'void') {
		const attempt = await attempts.lockByRef('GATEWAY_A', latest.id);
		if (attempt?.status === 'OPEN') {
			await attempts.update(organizationId, attempt.id, {status: 'EXPIRED'}, now);
		}
	}

	return settled;
};
