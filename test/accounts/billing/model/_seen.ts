import type {Organization} from '../../../../src/accounts/organizations/organization-store.ts';
import {planOf} from '../../../../src/accounts/plans/entitlements.ts';
import type {Payment} from './_money.ts';
import type {Play} from './_play.ts';
import type {World} from './_world.ts';

export type InvoiceRow = {
	gateway: string;
	gateway_invoice_id: string;
	plan: string;
	amount_minor: string;
	period_start: Date | null;
	period_end: Date | null;
};
type Json = Record<string, unknown>;
/** The state of the organization in the service. */
export type Seen = {
	organization: {plan: string | null; entitled_until: Date | null} | null;
	row: {
		status: string;
		gateway: string;
		gateway_subscription_id: string | null;
		plan: string;
		current_period_end: Date | null;
	} | null;
	invoices: InvoiceRow[];
	/** Whether Paymob work remains within hours: a checkout, a charge, a refund. */
	isUnsettled: boolean;
};

/** Kept from step to step: when each payment was taken, and when it began to count. */
export type Memory = {countedAt: Map<string, {at: Date; step: number}>; takenIn: Map<string, number>};
export const newMemory = (): Memory => ({countedAt: new Map(), takenIn: new Map()});

export const keyOf = (gateway: string, id: string): string => `${gateway} ${id}`;

/** The last state of each organization, and after how many changes. */
const lastSeen = new WeakMap<Organization, {seen: Seen; changes: number}>();

/** Looks again where a statement has been sent since that may have changed something. */
export const look = async ({world, organization}: Play): Promise<Seen> => {
	const changes = world.connections.changes();
	const last = lastSeen.get(organization);
	const seen = last?.changes === changes ? last.seen : await read(world, organization);
	lastSeen.set(organization, {seen, changes});
	return seen;
};

/** All in one statement, because this is asked after nearly every step. */
const read = async ({services}: World, {id}: Organization): Promise<Seen> => {
	const {rows} = await services.db.raw<{
		rows: [{organization: Json | null; row: Json | null; invoices: Json[] | null; unsettled: boolean}];
	}>(
		`SELECT (SELECT to_json(o) FROM (SELECT plan, entitled_until FROM organizations WHERE id = :id) o) AS organization,
			(SELECT to_json(s) FROM subscriptions s WHERE organization_id = :id) AS row,
			(SELECT json_agg(i) FROM billing_invoices i WHERE organization_id = :id) AS invoices,
			EXISTS (SELECT FROM billing_attempts WHERE gateway = 'GATEWAY_B' AND status IN ('OPEN', 'SUPERSEDED'))
				OR EXISTS (SELECT FROM payment_reversals WHERE status = 'PENDING') AS unsettled`,
		{id},
	);
	const [{organization, row, invoices, unsettled}] = rows;
	const isDate = (name: string, value: unknown) => /_(?:at|until|start|end)$/.test(name) && typeof value === 'string';
	const dated = (json: Json): Json =>
		Object.fromEntries(
			Object.entries(json).map(([name, value]) => [name, isDate(name, value) ? new Date(String(value)) : value]),
		);
	return {
		organization: organization && (dated(organization) as unknown as Seen['organization']),
		row: row && (dated(row) as unknown as Seen['row']),
		invoices: (invoices ?? []).map((one) => dated(one) as unknown as InvoiceRow),
		isUnsettled: unsettled,
	};
};

export const rankOf = ({world: {services}}: Play, plan: string | null): number =>
	plan === 'ENTERPRISE' ? Number.POSITIVE_INFINITY : (services.config.plans[plan ?? '']?.prices.USD ?? 0);

/** The plan that the organization can use now. */
export const usedPlan = ({world: {services}}: Play, {organization}: Seen): string | null => {
	const used = organization && planOf(services, {plan: organization.plan, entitledUntil: organization.entitled_until});
	return Object.entries(services.config.plans).find(([, plan]) => plan === used)?.[0] ?? null;
};

export const remember = (play: Play, memory: Memory, {invoices, organization}: Seen, payments: Payment[]): void => {
	const at = play.world.clock.now();
	for (const {gateway, gateway_invoice_id: id} of invoices) {
		const key = keyOf(gateway, id);
		memory.countedAt.set(key, memory.countedAt.get(key) ?? {at, step: play.step});
	}

	for (const {gateway, id} of payments) {
		const key = keyOf(gateway, id);
		memory.takenIn.set(key, memory.takenIn.get(key) ?? play.step);
	}

	// It may be deleted though the service died before it answered.
	if (organization === null) {
		play.deletedAt ??= play.step;
	}
};
