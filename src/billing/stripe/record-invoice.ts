import type Stripe from 'stripe';
import type {Db} from '../../db/db.ts';
import type {Plans} from '../../plans/plans.ts';
import {createInvoiceStore} from '../invoice-store.ts';
import {dateOf} from './stripe-client.ts';

type Place = {organizationId: string; plan: string; plans: Plans; now: Date};

/** Records a paid invoice of gateway A, once. The period is that of the last line, which is what was bought. */
export const recordStripeInvoice = async (
	trx: Db,
	invoice: Stripe.Invoice,
	{organizationId, plan, plans, now}: Place,
): Promise<boolean> => {
	const line = invoice.lines.data.at(-1);
	const price = line?.pricing?.price_details?.price;
	const priceId = typeof price === 'string' ? price : price?.id;
	const planOfLine = Object.entries(plans).find(([, {stripePrice}]) => stripePrice !== null && stripePrice === priceId);
	const {paid_at: paidAt} = invoice.status_transitions;
	return createInvoiceStore(trx).insert(
		{
			organizationId,
			gateway: 'GATEWAY_A',
			gatewayInvoiceId: invoice.id ?? '',
			number: invoice.number ?? invoice.id ?? '',
			plan: planOfLine?.[0] ?? plan,
			amount: invoice.amount_paid,
			currency: 'USD',
			paidAt: paidAt === null ? now : dateOf(paidAt),
			periodStart: line === undefined ? null : dateOf(line.period.start),
			periodEnd: line === undefined ? null : dateOf(line.period.end),
			hostedUrl: invoice.hosted_invoice_url ?? null,
			pdfUrl: invoice.invoice_pdf ?? null,
		},
		now,
	);
};
