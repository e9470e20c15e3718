import type {EnvironmentReader} from './environment.ts';

/** The identity provider: how sessions are verified, how its backend API is called, how its webhooks are signed. */
export type IdentityProviderConfig = Readonly<{
	/** Null, as the key set's URL: every session is 401 (contract/config 1). */
	issuer: string | null;
	jwksUrl: string | null;
	/** Accepted `aud` and `azp` of session tokens; empty: not checked. */
	audience: readonly string[];
	authorizedParties: readonly string[];
	apiUrl: string;
	apiKey: string | null;
	/** Null: every delivery is 400. */
	webhookSecret: string | null;
}>;

/** Gateway A (Stripe). */
export type StripeConfig = Readonly<{secretKey: string; webhookSecret: string | null; apiUrl: string | null}>;

/** Gateway B (Paymob). Without the MOTO integration saved cards are not charged. */
export type PaymobConfig = Readonly<{
	secretKey: string;
	publicKey: string;
	apiKey: string | null;
	hmacSecret: string | null;
	cardIntegrationId: string;
	motoIntegrationId: string | null;
	apiUrl: string;
	checkoutUrl: string;
}>;

const anything = () => true;

/** The secret's bytes are what signs, so that a short or empty one would let anybody sign (contract/identity 6). */
const SECRET_BYTES = 16;

/** Whether webhooks can be verified with it: `whsec_` and standard base64 of at least 16 bytes. */
export const isWebhookSecret = (secret: string): boolean => {
	const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(secret)?.[1];
	return encoded !== undefined && Buffer.from(encoded, 'base64').length >= SECRET_BYTES;
};

export const readIdentityProvider = (
	{text, url, list}: EnvironmentReader,
	warnings: string[],
): IdentityProviderConfig => {
	const webhookSecret = text('IDP_WEBHOOK_SECRET');
	if (webhookSecret !== null && !isWebhookSecret(webhookSecret)) {
		warnings.push('IDP_WEBHOOK_SECRET is not whsec_ followed by base64: every delivery will be refused with 400');
	}

	// As it is: the claim must be equal to the letter, a trailing slash included.
	const issuer = url('IDP_ISSUER', ['https:', 'http:']) === null ? null : text('IDP_ISSUER');
	const jwksUrl = url('IDP_JWKS_URL', ['https:', 'http:']);
	if ((issuer === null) !== (jwksUrl === null)) {
		warnings.push('IDP_ISSUER and IDP_JWKS_URL are needed both: every session will be refused with 401');
	}

	return {
		issuer,
		jwksUrl,
		audience: list('IDP_AUDIENCE', anything, ''),
		authorizedParties: list('IDP_AUTHORIZED_PARTIES', anything, ''),
		apiUrl: url('IDP_API_URL', ['https:', 'http:']) ?? 'https://api.clerk.com/v1',
		apiKey: text('IDP_API_KEY'),
		webhookSecret,
	};
};

/** Gateway A, or null where it is off. */
export const readStripe = ({text, url}: EnvironmentReader): StripeConfig | null => {
	const secretKey = text('STRIPE_SECRET_KEY');
	const apiUrl = url('STRIPE_API_URL', ['https:', 'http:']);
	return secretKey === null ? null : {secretKey, webhookSecret: text('STRIPE_WEBHOOK_SECRET'), apiUrl};
};

/** Gateway B, or null where it is off. A half of what a checkout needs is a fault. */
export const readPaymob = ({text, url, fault}: EnvironmentReader): PaymobConfig | null => {
	const secretKey = text('PAYMOB_SECRET_KEY');
	const apiUrl = url('PAYMOB_API_URL', ['https:', 'http:']) ?? 'https://accept.paymob.com';
	// As it is: whether it ends with a slash is the gateway's.
	const isElsewhere = url('PAYMOB_CHECKOUT_URL', ['https:', 'http:']) !== null;
	const checkoutUrl =
		(isElsewhere ? text('PAYMOB_CHECKOUT_URL') : null) ?? 'https://accept.paymob.com/unifiedcheckout/';
	if (secretKey === null) {
		return null;
	}

	const needed = (name: string): string => text(name) ?? fault(name, 'must be set with PAYMOB_SECRET_KEY') ?? '';
	const integration = (id: string | null, name: string): string | null =>
		id === null || /^[1-9]\d{0,15}$/.test(id) ? id : fault(name, 'must be the number of an integration');
	return {
		secretKey,
		publicKey: needed('PAYMOB_PUBLIC_KEY'),
		apiKey: text('PAYMOB_API_KEY'),
		hmacSecret: text('PAYMOB_HMAC_SECRET'),
		cardIntegrationId: integration(needed('PAYMOB_CARD_INTEGRATION_ID') || null, 'PAYMOB_CARD_INTEGRATION_ID') ?? '',
		motoIntegrationId: integration(text('PAYMOB_MOTO_INTEGRATION_ID'), 'PAYMOB_MOTO_INTEGRATION_ID'),
		apiUrl,
		checkoutUrl,
	};
};
