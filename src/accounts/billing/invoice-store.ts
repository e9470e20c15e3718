import {randomUUID} from 'node:crypto';
import type {Currency} from '../../platform/config/plans.ts';
import {type Columns, columnsOf, toColumns} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {descending, type Page, type PageQuery, readPage} from '../../platform/db/read-page.ts';
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

/** As the API shows it (contract/billing 3). */
type InvoiceJson = Omit<NewInvoice, 'organizationId' | 'gateway' | 'gatewayInvoiceId'> & {id: string};
type Row = Omit<InvoiceJson, 'amount'> & {amountMinor: string};

const columns: Columns<Row> = columnsOf(
	'id, number, plan, amount_minor, currency, paid_at, period_start, period_end, hosted_url, pdf_url',
);

const toJson = ({amountMinor, ...row}: Row): InvoiceJson => ({...row, amount: Number(amountMinor)});

/** The statements on paid invoices, over a pool or a transaction. */
export const createInvoiceStore = (db: Db) => ({
	/** Adds an invoice, unless the payment has one already. */
	insert: async ({amount, ...invoice}: NewInvoice, now: Date): Promise<void> => {
		await db('billing_invoices')
			.insert({...toColumns(invoice), id: randomUUID(), amount_minor: amount, created_at: now})
			.onConflict(['gateway', 'gateway_invoice_id'])
			.ignore();
	},

	list: (organizationId: string, query: PageQuery): Promise<Page<InvoiceJson>> =>
		readPage(
			db('billing_invoices').where({organization_id: organizationId}).select(columns.list),
			query,
			descending('paid_at', 'id'),
			toJson,
		),

	find: async (organizationId: string, id: string): Promise<InvoiceJson | null> => {
		const row: Row | undefined = await db('billing_invoices')
			.where({organization_id: organizationId, id})
			.first(columns.list);
		return row === undefined ? null : toJson(row);
	},
});
