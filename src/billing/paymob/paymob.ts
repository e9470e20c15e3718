import type {Logger} from 'pino';
import type {Clock} from '../../clock.ts';
import type {Config, PaymobConfig} from '../../config/config.ts';
import type {Db} from '../../db/db.ts';
import type {Plans} from '../../plans/plans.ts';
import {type CardCipher, createCardCipher} from './card-cipher.ts';
import {createPaymobClient, type PaymobClient} from './paymob-client.ts';

/** All that the code of gateway B stands on. */
export type Paymob = Readonly<{
	config: PaymobConfig;
	plans: Plans;
	db: Db;
	clock: Clock;
	log: Logger;
	client: PaymobClient;
	cards: CardCipher;
	/** Where callbacks go to, and where the browser returns to. */
	notificationUrl: string;
	returnUrl: string;
}>;

type Given = {
	config: Pick<Config, 'paymob' | 'keySecret' | 'plans'>;
	db: Db;
	clock: Clock;
	log: Logger;
	publicUrl: string;
	returnUrl: string;
};

/** Gateway B, or null where it is off. */
export const createPaymob = ({config, db, clock, log, publicUrl, returnUrl}: Given): Paymob | null => {
	const {paymob} = config;
	return paymob === null
		? null
		: {
				config: paymob,
				plans: config.plans,
				db,
				clock,
				log,
				client: createPaymobClient({config: paymob, clock, log}),
				cards: createCardCipher(config.keySecret, paymob.secretKey, log),
				notificationUrl: `${publicUrl}/webhook/gateway-b`,
				returnUrl,
			};
};
