import type Stripe from 'stripe';
import type {Db} from '../../db/db.ts';
import type {Services} from '../../services.ts';
import {createInvoiceStore, type NewInvoice} from '../invoice-store.ts';
import {planOfPrice} from './read-subscription.ts';
import {dateOf, idOf} from './stripe-client.ts';

/** The period is that of the last line, which is what was bought; a proration's credit comes before it. */
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

/**
 * Records paid invoices of gateway A, each once.
 * @param plan what they are for where their price is no plan's.
 */
export const recordStripeInvoices = async (
	{services, trx, organizationId, now}: {services: Services; trx: Db; organizationId: string; now: Date},
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
