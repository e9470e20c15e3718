import {createHmac} from 'node:crypto';
import {Webhook} from 'svix';
import {signedText, TOKEN_FIELDS, TRANSACTION_FIELDS} from '../../src/accounts/billing/paymob/paymob-hmac.ts';

export type Signature = {headers: Record<string, string>; query: string};

const paymobHmac = (body: Buffer, secret: string): string => {
	try {
		const {type, obj} = JSON.parse(body.toString()) as {type?: unknown; obj?: unknown};
		const text = signedText(obj, type === 'TOKEN' ? TOKEN_FIELDS : TRANSACTION_FIELDS);
		return createHmac('sha512', secret).update(text).digest('hex');
	} catch {
		// Unreadable bodies cannot be signed.
		return '';
	}
};

/** Signs as the sender of a path's webhooks, so that the contents are processed beyond the signature. */
export const signatureOf = (
	path: string,
	body: Buffer,
	{id, now, env}: {id: string; now: Date; env: Record<string, string>},
): Signature => {
	const seconds = String(Math.floor(now.getTime() / 1000));
	switch (path.split('?', 1)[0]) {
		case '/webhooks/idp': {
			const signature = new Webhook(env['IDP_WEBHOOK_SECRET'] ?? '').sign(id, now, body);
			return {headers: {'svix-id': id, 'svix-timestamp': seconds, 'svix-signature': signature}, query: ''};
		}

		case '/webhook/gateway-a': {
			const hmac = createHmac('sha256', env['STRIPE_WEBHOOK_SECRET'] ?? '').update(`${seconds}.`);
			hmac.update(body);
			return {headers: {'Stripe-Signature': `t=${seconds},v1=${hmac.digest('hex')}`}, query: ''};
		}

		case '/webhook/gateway-b':
			return {headers: {}, query: `hmac=${paymobHmac(body, env['PAYMOB_HMAC_SECRET'] ?? '')}`};
		default:
			return {headers: {}, query: ''};
	}
};
