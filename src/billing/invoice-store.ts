import {randomUUID} from 'node:crypto';
import type {Db} from '../db/db.ts';
import {type Page, type PageQuery, readPage} from '../db/read-page.ts';
import type {Currency} from '../plans/plans.ts';
import type {GatewayName} from './subscription.ts';

/** A payment; `gatewayInvoiceId` is the invoice (A) or the transaction (B). */
export type NewInvoice = {
	organizationId: string;
	gateway: GatewayName;
	gatewayInvoiceId: string;
	number: string;
	plan: string;
	/** Minor units. */
	amount: number;
	currency: Currency;
	paidAt: Date;
	periodStart: Date | null;
	periodEnd: Date | null;
	hostedUrl: string | null;
	pdfUrl: string | null;
};

type Row = {
	id: string;
	number: string;
	plan: string;
	amount_minor: string;
	currency: string;
	paid_at: Date;
	period_start: Date | null;
	period_end: Date | null;
	hosted_url: string | null;
	pdf_url: string | null;
};

/** As the API shows it (contract/billing 3). */
const toJson = (row: Row) => ({
	id: row.id,
	number: row.number,
	plan: row.plan,
	amount: Number(row.amount_minor),
	currency: row.currency,
	paidAt: row.paid_at,
	periodStart: row.period_start,
	periodEnd: row.period_end,
	hostedUrl: row.hosted_url,
	pdfUrl: row.pdf_url,
});
export type InvoiceJson = ReturnType<typeof toJson>;

/** The statements on paid invoices, over a pool or a transaction. */
export const createInvoiceStore = (db: Db) => ({
	/** @returns false if the payment has an invoice already. */
	insert: async (invoice: NewInvoice, now: Date): Promise<boolean> => {
		const rows = await db('billing_invoices')
			.insert({
				id: randomUUID(),
				organization_id: invoice.organizationId,
				gateway: invoice.gateway,
				gateway_invoice_id: invoice.gatewayInvoiceId,
				number: invoice.number,
				plan: invoice.plan,
				amount_minor: invoice.amount,
				currency: invoice.currency,
				paid_at: invoice.paidAt,
				period_start: invoice.periodStart,
				period_end: invoice.periodEnd,
				hosted_url: invoice.hostedUrl,
				pdf_url: invoice.pdfUrl,
				created_at: now,
			})
			.onConflict(['gateway', 'gateway_invoice_id'])
			.ignore()
			.returning('id');
		return rows.length > 0;
	},

	list: (organizationId: string, query: PageQuery): Promise<Page<InvoiceJson>> =>
		readPage(db('billing_invoices').where({organization_id: organizationId}), query, 'paid_at DESC, id DESC', toJson),

	find: async (organizationId: string, id: string): Promise<InvoiceJson | null> => {
		const [row] = (await db('billing_invoices').where({organization_id: organizationId, id})) as Row[];
		return row === undefined ? null : toJson(row);
	},
});
