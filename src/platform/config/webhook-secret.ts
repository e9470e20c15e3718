/** The secret's bytes are the signing key, so any caller could sign with a short or empty one (contract/identity 6). */
const SECRET_BYTES = 16;

/** Whether it can verify webhooks: `whsec_` and standard base64 of at least 16 bytes. */
export const isWebhookSecret = (secret: string): boolean => {
	const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(secret)?.[1];
	return encoded !== undefined && Buffer.from(encoded, 'base64').length >= SECRET_BYTES;
};
