import path from 'node:path';
import {createClock} from '../../../src/platform/clock.ts';
import {type AutomaticDelivery, createAutomaticDelivery} from '../identity-provider/automatic-delivery.ts';
import type {Call} from '../identity-provider/faults.ts';
import {type FakePaymob, type PaymobEvent, startFakePaymob} from '../paymob/paymob.ts';
import {type FakeStripe, startFakeStripe} from '../stripe/stripe.ts';
import {answerDeveloper} from './development-routes.ts';
import type {Reply} from './http-server.ts';
import {loadState, saveState} from './state-file.ts';
import type {Destination} from './webhook-queue.ts';

/** Equal at every start, so that a service need not be restarted. Not real secrets. */
const stripeKeys = {secretKey: 'sk_test_oplink_development', webhookSecret: 'whsec_oplink_development'};
const paymobKeys = {
	secretKey: 'egy_sk_test_oplink_development',
	publicKey: 'egy_pk_test_oplink_development',
	apiKey: 'oplink_development_api_key',
	hmacSecret: 'oplink_development_hmac_secret',
};

const DAY_SECONDS = 86_400;
const TICK_MILLISECONDS = 1000;

export type DevelopmentOptions = {
	ports: {stripe: number; paymob: number};
	/** The service by its base URL. */
	serviceUrl: string;
	/** The folder of their state. */
	folder: string;
	/** Seconds that their clock is moved, as the service's CLOCK_OFFSET. */
	clockOffset: number;
	/** A log line about a delivery. */
	say(line: string): void;
};

export type Development = {
	stripe: FakeStripe;
	paymob: FakePaymob;
	deliveries: {stripe: AutomaticDelivery; paymob: AutomaticDelivery};
	stop(): Promise<void>;
};

/** Both gateways for people: webhooks are delivered at once, the time runs, and the state is saved. */
export const startDevelopment = async (options: DevelopmentOptions): Promise<Development> => {
	const {ports, serviceUrl, folder, say} = options;
	let offset = options.clockOffset;
	const clock = {now: () => createClock(offset).now()};
	const destinations = {
		stripe: new URL('/webhook/gateway-a', serviceUrl).href,
		paymob: new URL('/webhook/gateway-b', serviceUrl).href,
	};
	// Set below: the paths for people need the gateways that they are paths of.
	let answers: Record<'stripe' | 'paymob', (call: Call) => Reply | null> = {stripe: () => null, paymob: () => null};
	const stripe = await startFakeStripe({
		clock,
		port: ports.stripe,
		...stripeKeys,
		more: (call) => answers.stripe(call),
	});
	const paymob = await startFakePaymob({
		clock,
		port: ports.paymob,
		keys: paymobKeys,
		more: (call) => answers.paymob(call),
	});
	const files = {
		stripe: path.join(folder, 'development-gateway-a.json'),
		paymob: path.join(folder, 'development-gateway-b.json'),
	};
	loadState(files.stripe, stripe.account);
	loadState(files.paymob, paymob.merchant);
	const save = (): void => {
		saveState(files.stripe, stripe.account);
		saveState(files.paymob, paymob.merchant);
	};

	const deliveries = {
		stripe: createAutomaticDelivery({send: stripe.send, destination: destinations.stripe, say}),
		paymob: createAutomaticDelivery({
			// An intention may name its own receiver.
			send: (to: Destination, event: PaymobEvent) => paymob.send(event.receiver ?? to, event),
			destination: destinations.paymob,
			say,
		}),
	};
	stripe.onEvent((event) => {
		save();
		deliveries.stripe.push(event);
	});
	paymob.onEvent((event) => {
		save();
		deliveries.paymob.push(event);
	});

	const advance = (days: number): Date => {
		if (!Number.isFinite(days) || days < 0) {
			throw new Error('days has to be a number of days to go on');
		}

		offset += days * DAY_SECONDS;
		stripe.advance();
		return clock.now();
	};
	const gateways = {stripe: {...stripe, state: stripe.account}, paymob: {...paymob, state: paymob.merchant}};
	answers = {
		stripe: (call) => answerDeveloper({advance, gateway: gateways.stripe, delivery: deliveries.stripe}, call),
		paymob: (call) => answerDeveloper({advance, gateway: gateways.paymob, delivery: deliveries.paymob}, call),
	};
	const ticking = setInterval(stripe.advance, TICK_MILLISECONDS);

	return {
		stripe,
		paymob,
		deliveries,
		stop: async () => {
			clearInterval(ticking);
			save();
			deliveries.stripe.stop();
			deliveries.paymob.stop();
			await Promise.all([stripe.stop(), paymob.stop()]);
		},
	};
};
