import type {Logger} from 'pino';
import {createSecretCipher, type SecretCipher} from '../../secret-cipher.ts';

/** Encrypts what charges a saved card (contract/paymob 6). */
export type CardCipher = {
	seal(text: string): string;
	/** Null where it was sealed with a secret that is not configured now. */
	open(sealed: string): string | null;
};

/**
 * A card is never stored as it is: without OPLINK_KEY_SECRET the gateway's own secret key encrypts it, which is there
 * whenever there are cards. Either one opens, so that setting OPLINK_KEY_SECRET later loses no card.
 */
export const createCardCipher = (keySecret: string | null, gatewaySecret: string, log: Logger): CardCipher => {
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
					// Sealed with the other secret, perhaps.
				}
			}

			log.warn('a saved card could not be decrypted: the secret that encrypted it is not configured');
			return null;
		},
	};
};
