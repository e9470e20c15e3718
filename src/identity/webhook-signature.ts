import {timingSafeEqual} from 'node:crypto';
import type {IncomingHttpHeaders} from 'node:http';
import {createRequire} from 'node:module';
import {isWebhookSecret} from '../config/webhook-secret.ts';
import {invalidWebhookSignature} from '../errors.ts';
import {isTooDeep} from '../http/storable.ts';
import type {Delivery} from './delivery.ts';

const require = createRequire(import.meta.url);

/** No id of a delivery is longer by far, and it has to fit into an index. */
const LONGEST_ID = 255;
/** 50 characters for each secret that it signs with. */
const LONGEST_SIGNATURE = 1024;

/** How far a delivery's time may be from ours, before or after. */
const TOLERANCE_SECONDS = 300;

type Signed = {
	/** IDP_WEBHOOK_SECRET; null refuses everything. */
	secret: string | null;
	rawBody: Buffer;
	headers: IncomingHttpHeaders;
	now: Date;
};

/** The header under its own or its unbranded name. */
const headerOf = (headers: IncomingHttpHeaders, name: 'id' | 'timestamp' | 'signature'): string => {
	const value = headers[`svix-${name}`] ?? headers[`webhook-${name}`] ?? '';
	return typeof value === 'string' ? value : (value[0] ?? '');
};

const isEqual = (one: string, other: string): boolean => {
	const [left, right] = [Buffer.from(one), Buffer.from(other)];
	return left.length === right.length && timingSafeEqual(left, right);
};

/**
 * The library's `verify` compares the time with the machine's clock and takes no other. So it signs here, which is the
 * cryptography, and the two comparisons that `verify` makes are made with the clock of the service.
 */
const isSigned = ({secret, rawBody, headers, now}: Signed & {secret: string}): boolean => {
	const id = headerOf(headers, 'id');
	const timestamp = headerOf(headers, 'timestamp');
	const given = headerOf(headers, 'signature');
	if (id === '' || id.length > LONGEST_ID || given.length > LONGEST_SIGNATURE || !/^\d{1,11}$/.test(timestamp)) {
		return false;
	}

	const at = new Date(Number(timestamp) * 1000);
	if (Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp)) > TOLERANCE_SECONDS) {
		return false;
	}

	// Loaded with the first delivery: it holds a client of all of its maker's routes, which no start has to wait for.
	const {Webhook} = require('svix') as typeof import('svix');
	const expected = new Webhook(secret).sign(id, at, rawBody);
	// Several while a secret is being replaced; any one is enough, and versions that are not v1 equal none.
	return given.split(' ').some((signature) => isEqual(signature.replace(/,$/, ''), expected));
};

const bodyOf = (rawBody: Buffer): Omit<Delivery, 'id'> => {
	const body: unknown = JSON.parse(rawBody.toString());
	// It is kept, and writing what is deeper than anything of the provider's would run out of stack.
	if (isTooDeep(body)) {
		throw invalidWebhookSignature();
	}

	const {type, data, timestamp} = (body ?? {}) as Record<string, unknown>;
	const at = typeof timestamp === 'number' ? new Date(timestamp) : null;
	return {type: typeof type === 'string' ? type : '', data, at};
};

/**
 * A delivery as the provider signed it (contract/identity 6). The secret is looked at here and not at the start: a
 * bad one refuses every delivery and ends nothing, and one that is too short would let anybody sign.
 * @throws 400 for whatever is wrong, without saying what.
 */
export const verifyDelivery = ({secret, ...signed}: Signed): Delivery => {
	try {
		if (secret !== null && isWebhookSecret(secret) && isSigned({secret, ...signed})) {
			return {id: headerOf(signed.headers, 'id'), ...bodyOf(signed.rawBody)};
		}
	} catch {
		// The library throws for a secret, and the parser for a body, that it cannot read: refused like the rest.
	}

	throw invalidWebhookSignature();
};
