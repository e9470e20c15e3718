import type {Logger} from 'pino';
import type {Clock} from '../../../platform/clock.ts';
import type {Config, PaymobConfig} from '../../../platform/config/config.ts';
import type {Plans} from '../../../platform/config/plans.ts';
import type {Db} from '../../../platform/db/db.ts';
import {createSecretCipher, type SecretCipher} from '../../../platform/secret-cipher.ts';
import {createPaymobClient, type PaymobClient} from './paymob-client.ts';

/** Encrypts the tokens of saved cards (contract/billing 24). */
type CardCipher = {
	seal(text: string): string;
	/** Null if the secret that sealed it is no longer configured. */
	open(sealed: string): string | null;
};

/**
 * Without OPLINK_KEY_SECRET, Paymob's secret key encrypts cards. Either one decrypts: setting OPLINK_KEY_SECRET
 * later loses no card.
 */
const createCardCipher = (keySecret: string | null, gatewaySecret: string, log: Logger): CardCipher => {
	const own = createSecretCipher(gatewaySecret, 'oplink card token');
	const ciphers: [SecretCipher, ...SecretCipher[]] =
		keySecret === null ? [own] : [createSecretCipher(keySecret, 'oplink card token'), own];
	return {
		seal: (text) => ciphers[0].seal(text),
		open: (sealed) => {
			for (const cipher of ciphers) {
				try {
					return cipher.open(sealed);
				} catch {
					// Perhaps sealed with the other secret.
				}
			}

			log.warn('a saved card could not be decrypted: the secret that encrypted it is not configured');
			return null;
		},
	};
};

/** The dependencies of Paymob's code. */
export type Paymob = Readonly<{
	config: PaymobConfig;
	plans: Plans;
	db: Db;
	clock: Clock;
	log: Logger;
	client: PaymobClient;
	cards: CardCipher;
	/** Receives callbacks. */
	notificationUrl: string;
	/** Where the browser returns to. */
	returnUrl: string;
}>;

export const createPaymob = (
	config: PaymobConfig,
	{
		config: {keySecret, plans},
		publicUrl,
		...deps
	}: Pick<Paymob, 'db' | 'clock' | 'log' | 'returnUrl'> & {config: Config; publicUrl: string},
): Paymob => ({
	...deps,
	config,
	plans,
	client: createPaymobClient({...deps, config}),
	cards: createCardCipher(keySecret, config.secretKey, deps.log),
	notificationUrl: `${publicUrl}/webhook/gateway-b`,
});
