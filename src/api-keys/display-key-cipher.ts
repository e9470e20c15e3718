import type {Logger} from 'pino';
import {createSecretCipher, isSealed} from '../secret-cipher.ts';

/** How the raw key of a key card is kept: as is, or encrypted where OPLINK_KEY_SECRET is set (decisions 1). */
export type DisplayKeyCipher = {
	seal(rawKey: string): string;
	/** The raw key; null where it was encrypted with a secret that is not configured now. */
	open(stored: string | null): string | null;
};

export const createDisplayKeyCipher = (secret: string | null, log: Logger): DisplayKeyCipher => {
	const cipher = secret === null ? null : createSecretCipher(secret, 'oplink displayKey');

	const open = (stored: string): string | null => {
		if (!isSealed(stored)) {
			return stored;
		}

		try {
			if (cipher === null) {
				throw new Error('OPLINK_KEY_SECRET is not set');
			}

			return cipher.open(stored);
		} catch (error) {
			// The key itself still authenticates by its hash; only its display is lost until it is regenerated.
			log.warn({err: error}, 'a displayKey could not be decrypted');
			return null;
		}
	};

	return {
		seal: (rawKey) => cipher?.seal(rawKey) ?? rawKey,
		open: (stored) => (stored === null ? null : open(stored)),
	};
};
