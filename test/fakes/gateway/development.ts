import path from 'node:path';
import {createClock} from '../../../src/platform/clock.ts';
import {startFakePaymob} from '../paymob/paymob.ts';
import {develop} from '../shared/development.ts';
import {startFakeStripe} from '../stripe/stripe.ts';

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

const actions = {
	'Move the time of both gateways, for renewals and expiries': `curl -d '{"days":31}' HERE/dev/advance`,
	'A card that is declined; "works" undoes it': `curl -d '{"card":"ID","behavior":"declines"}' HERE/dev/cards`,
};

/** Both gateways for people: webhooks are delivered at once, the time runs, and the state is saved. */
export const startDevelopment = async ({
	ports,
	serviceUrl,
	folder,
	clockOffset,
	say,
}: {
	ports: {stripe: number; paymob: number};
	/** The service by its base URL. */
	serviceUrl: string;
	/** The folder of their state. */
	folder: string;
	/** Seconds that their clock is moved, as the service's CLOCK_OFFSET. */
	clockOffset: number;
	/** A log line about a delivery. */
	say(line: string): void;
}) => {
	let offset = clockOffset;
	const clock = {now: () => createClock(offset).now()};
	const stripe = await startFakeStripe({clock, port: ports.stripe, ...stripeKeys});
	const paymob = await startFakePaymob({clock, port: ports.paymob, keys: paymobKeys});
	const setup = (letter: string, state: object) => ({
		actions,
		state,
		file: path.join(folder, `development-gateway-${letter}.json`),
		destination: new URL(`/webhook/gateway-${letter}`, serviceUrl).href,
		say,
	});
	const forStripe = develop(stripe, {name: 'Stripe', ...setup('a', stripe.account)});
	const forPaymob = develop(paymob, {name: 'Paymob', ...setup('b', paymob.merchant)});
	for (const gateway of [stripe, paymob]) {
		gateway.serve({
			'POST /dev/advance': ({body}) => {
				const days = Number(body['days']);
				if (!Number.isFinite(days) || days < 0) {
					throw new Error('days has to be a number of days to go on');
				}

				offset += days * DAY_SECONDS;
				stripe.advance();
				return {now: clock.now()};
			},
			// Of a customer at gateway A, by its token at gateway B.
			'POST /dev/cards': ({body: {card, behavior}}) =>
				gateway.setCard(String(card), behavior === 'declines' ? 'declines' : 'works'),
		});
	}

	const ticking = setInterval(stripe.advance, TICK_MILLISECONDS);

	return {
		stripe,
		paymob,
		help: forStripe.help + forPaymob.help,
		deliveries: {stripe: forStripe.delivery, paymob: forPaymob.delivery},
		stop: async (): Promise<void> => {
			clearInterval(ticking);
			await Promise.all([forStripe.stop(), forPaymob.stop()]);
		},
	};
};
