import type {Logger} from 'pino';
import {createSecretCipher, isSealed} from '../../platform/secret-cipher.ts';

/** Stores the raw key of a key card: as is, or encrypted if OPLINK_KEY_SECRET is set (contract/operations 10). */
export type DisplayKeyCipher = {
	seal(rawKey: string): string;
	/** The raw key; null if it was encrypted with another secret. */
	open(stored: string | null): string | null;
};

/** The message for keys that the current secret cannot decrypt. */
export const otherSecret = {
	fault: 'was encrypted with a different OPLINK_KEY_SECRET',
	remedy: 'Restore the earlier secret and restart, or regenerate the key; the key itself still works',
} as const;

export const createDisplayKeyCipher = (secret: string | null, log: Logger): DisplayKeyCipher => {
	const cipher = secret === null ? null : createSecretCipher(secret, 'oplink displayKey');

	// The key itself still authenticates by its hash; only its display is lost until it is regenerated.
	const refuse = (error: unknown): null => {
		log.warn({err: error}, `a displayKey ${otherSecret.fault}. ${otherSecret.remedy}`);
		return null;
	};

	const open = (stored: string): string | null => {
		if (!isSealed(stored)) {
			return stored;
		}

		try {
			return cipher === null ? refuse(null) : cipher.open(stored);
		} catch (error) {
			return refuse(error);
		}
	};

	return {
		seal: (rawKey) => cipher?.seal(rawKey) ?? rawKey,
		open: (stored) => (stored === null ? null : open(stored)),
	};
};
