import {randomUUID} from 'node:crypto';
import {pino} from 'pino';
import Stripe from 'stripe';
import {createStripeGateway} from '../../../../src/accounts/billing/stripe/stripe-gateway.ts';
import {createOrganizationStore, type Organization} from '../../../../src/accounts/organizations/organization-store.ts';
import {loadConfig} from '../../../../src/platform/config/config.ts';
import {closeDb, createDb, type Db} from '../../../../src/platform/db/db.ts';
import {createServices, type Services} from '../../../../src/services.ts';
import {type FakePaymob, startFakePaymob} from '../../../fakes/paymob/paymob.ts';
import type {DirectFetch} from '../../../fakes/shared/http-server.ts';
import {type FakeStripe, startFakeStripe} from '../../../fakes/stripe/stripe.ts';
import {createTestDatabase} from '../../../helpers/database.ts';
import {createFakeClock} from '../../../helpers/service.ts';
import {libraryFor} from '../_official-stripe.ts';
import {type Connections, watchConnections} from './_connections.ts';

type Inner = {acquireConnection(): Promise<unknown>};

/** Makes the service die in the middle of something, as a killed process does: whatever it would do next is not done. */
const prepareDeath = (db: Db, connections: Connections, gateways: ReadonlyArray<FakeStripe | FakePaymob>) => {
	const client = db.client as Inner;
	const {acquireConnection: acquire} = client;
	let left = Number.POSITIVE_INFINITY;
	let dead = false;

	const gone = () => new Error('The service was killed.');

	/** Counts one thing. @returns whether the service is dead now. */
	const isDeadNow = (): boolean => {
		left -= 1;
		if (!dead && left <= 0) {
			dead = true;
			connections.break();
		}

		return dead;
	};
	connections.before(() => (isDeadNow() ? gone() : null));
	client.acquireConnection = () => (dead ? Promise.reject(gone()) : acquire.call(client));
	/** No call to a gateway fails any more but those of a dead service. */
	const clearFaults = (): void => {
		for (const gateway of gateways) {
			gateway.clearFaults();
			gateway.fail({times: Number.POSITIVE_INFINITY, when: isDeadNow, drop: true});
			gateway.fail({times: Number.POSITIVE_INFINITY, when: isDeadNow, drop: true, afterwards: true});
		}
	};
	clearFaults();

	return {
		/**
		 * Runs `work`, and dies before the `at`th thing that it does: a statement, a call to a gateway, or the arrival of
		 * the answer of one. Its connections break then, and an open transaction with them.
		 * @returns whether it came to that.
		 */
		at: async (at: number, work: () => Promise<void>): Promise<boolean> => {
			left = at;
			await work();
			const died = dead;
			left = Number.POSITIVE_INFINITY;
			dead = false;
			return died;
		},
		isDead: (): boolean => dead,
		clearFaults,
	};
};

/** An installation of its own, with both gateways: one organization at a time lives in it. */
export type World = Awaited<ReturnType<typeof startWorld>>;

const overTheNetwork = globalThis.fetch;
const direct = new Map<string, DirectFetch>();

/** Lets calls to a fake of this process go without sockets. @returns what undoes it. */
const callDirectly = ({url, fetch}: {url: string; fetch: DirectFetch}): (() => void) => {
	direct.set(url, fetch);
	globalThis.fetch = (input, init) => {
		const call = direct.get(new URL(String(input)).origin) ?? overTheNetwork;
		return call(input, init);
	};
	return () => {
		direct.delete(url);
		if (direct.size === 0) {
			globalThis.fetch = overTheNetwork;
		}
	};
};

const RETURN_URL = 'https://portal.example.com/billing';
const BEGIN = new Date('2026-01-31T12:00:00.000Z');

/** What jobs and receivers look at without naming an organization. */
const FORGET = 'gateway_events billing_invoices billing_attempts payment_methods payment_reversals subscriptions leases'
	.split(' ')
	.map((table) => `DELETE FROM ${table}`)
	.join('; ');

export const startWorld = async () => {
	const clock = createFakeClock(BEGIN);
	const [stripe, paymob, database] = await Promise.all([
		startFakeStripe({clock}),
		startFakePaymob({clock}),
		createTestDatabase(),
	]);
	const callOverTheNetwork = callDirectly(paymob);
	const adminToken = randomUUID();
	const config = loadConfig({
		PORT: '0',
		ADMIN_TOKEN: adminToken,
		LOG_LEVEL: 'warn',
		BILLING_RETURN_URL: RETURN_URL,
		...stripe.env,
		...paymob.env,
	});
	/** The log since the last organization, for a failure. */
	const lines: string[] = [];
	const log = pino({level: 'warn'}, {write: (line: string) => void lines.push(line)});
	const db = createDb(database.url, {poolSize: 6});
	const made = createServices({config, port: 3000, db, clock, log, adminToken});
	// The library does not repeat a call by itself: so every fault is seen.
	const library = libraryFor(stripe, {maxNetworkRetries: 0, httpClient: Stripe.createFetchHttpClient(stripe.fetch)});
	const gatewayA = createStripeGateway({stripe: library, plans: config.plans, returnUrl: RETURN_URL});
	const services: Services = {...made, gateways: {...made.gateways, GATEWAY_A: gatewayA}};
	const connections = watchConnections(db);
	const death = prepareDeath(db, connections, [stripe, paymob]);

	/** Starts again with a new organization. */
	const begin = async (): Promise<Organization> => {
		// The organization before is left: without these rows nothing finds it, and to delete it costs 20 times as much.
		await db.raw(FORGET);
		const {account} = stripe;
		const {merchant} = paymob;
		for (const map of [
			...[account.customers, account.sessions, account.orders, account.subscriptions, account.schedules],
			...[account.invoices, account.payments, account.portals, account.refunds, account.cards, account.pendingLines],
			...[merchant.intentions, merchant.transactions, merchant.savedCards, merchant.cards],
		]) {
			map.clear();
		}

		for (const {events, history, calls, charges} of [stripe, paymob]) {
			for (const list of [events, history, calls, charges, lines]) {
				list.length = 0;
			}
		}

		death.clearFaults();
		clock.set(BEGIN);
		return createOrganizationStore(db).insert({name: `Acme ${randomUUID()}`, contactEmail: null}, clock.now());
	};

	return {
		services,
		clock,
		stripe,
		paymob,
		death,
		connections,
		lines,
		begin,
		stop: async () => {
			callOverTheNetwork();
			await services.close(60_000);
			await closeDb(db);
			await Promise.all([stripe.stop(), paymob.stop(), database.drop()]);
		},
	};
};
