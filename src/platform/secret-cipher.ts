import {createCipheriv, createDecipheriv, hkdfSync, randomBytes} from 'node:crypto';

/** Marks a stored value as encrypted, with its scheme. Plain values never begin with it. */
const MARK = 'aes256gcm:';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts stored values that must be readable again. */
export type SecretCipher = {
	seal(text: string): string;
	/** Decrypts a value. @throws if it was encrypted with another secret, or altered. */
	open(stored: string): string;
};

export const isSealed = (stored: string): boolean => stored.startsWith(MARK);

/** AES-256-GCM (NIST SP 800-38D) under a key derived from the secret by HKDF (RFC 5869), one key per `purpose`. */
export const createSecretCipher = (secret: string, purpose: string): SecretCipher => {
	const key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
	return {
		seal: (text) => {
			const iv = randomBytes(IV_BYTES);
			const cipher = createCipheriv('aes-256-gcm', key, iv);
			const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
			return MARK + Buffer.concat([iv, cipher.getAuthTag(), data]).toString('base64');
		},
		open: (stored) => {
			const sealed = Buffer.from(stored.slice(MARK.length), 'base64');
			const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES));
			decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
			return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
		},
	};
};
