import {createCipheriv, createDecipheriv, hkdfSync, randomBytes} from 'node:crypto';
import type {Logger} from 'pino';

/** Marks a stored value as encrypted, and with which scheme. A raw key never begins so. */
const MARK = 'aes256gcm:';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** How the raw key of a key card is kept: as is, or encrypted where OPLINK_KEY_SECRET is set (decisions 1). */
export type DisplayKeyCipher = {
	seal(rawKey: string): string;
	/** The raw key; null where it was encrypted with a secret that is not configured now. */
	open(stored: string | null): string | null;
};

/** AES-256-GCM (NIST SP 800-38D) under a key derived from the secret by HKDF (RFC 5869). */
export const createDisplayKeyCipher = (secret: string | null, log: Logger): DisplayKeyCipher => {
	const key = secret === null ? null : Buffer.from(hkdfSync('sha256', secret, '', 'oplink displayKey', 32));

	const open = (stored: string): string | null => {
		if (!stored.startsWith(MARK)) {
			return stored;
		}

		try {
			if (key === null) {
				throw new Error('OPLINK_KEY_SECRET is not set');
			}

			const sealed = Buffer.from(stored.slice(MARK.length), 'base64');
			const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES));
			decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
			return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
		} catch (error) {
			// The key itself still authenticates by its hash; only its display is lost until it is regenerated.
			log.warn({err: error}, 'a displayKey could not be decrypted');
			return null;
		}
	};

	return {
		seal: (rawKey) => {
			if (key === null) {
				return rawKey;
			}

			const iv = randomBytes(IV_BYTES);
			const cipher = createCipheriv('aes-256-gcm', key, iv);
			const data = Buffer.concat([cipher.update(rawKey, 'utf8'), cipher.final()]);
			return MARK + Buffer.concat([iv, cipher.getAuthTag(), data]).toString('base64');
		},
		open: (stored) => (stored === null ? null : open(stored)),
	};
};
