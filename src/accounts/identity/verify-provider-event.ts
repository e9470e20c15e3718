import {timingSafeEqual} from 'node:crypto';
import type {IncomingHttpHeaders} from 'node:http';
import {invalidWebhookSignature} from '../../platform/errors.ts';
import {isTooDeep} from '../../platform/http/storable.ts';
import {isWebhookSecret, signWebhook} from '../../platform/sign-webhook.ts';
import {timeIn} from './provider-payloads.ts';

/** An event of the identity provider. `id` is the same for all attempts to deliver it. */
export type ProviderEvent = {id: string; type: string; data: unknown};

/** An event with a verified signature: its text, and its time, if the provider sends it. */
export type SignedEvent = ProviderEvent & {text: string; at: Date | null};

/** Far longer than any delivery id; it must fit into an index. */
const MAX_ID = 255;
/** 50 characters per signing secret. */
const MAX_SIGNATURE = 1024;

/** Tolerated difference of a delivery's time from ours, in both directions. */
const TOLERANCE_SECONDS = 300;

type SignedDelivery = {
	/** IDP_WEBHOOK_SECRET; null refuses everything. */
	secret: string | null;
	rawBody: Buffer;
	headers: IncomingHttpHeaders;
	now: Date;
};

/** The header by its own or its unbranded name. */
const headerOf = (headers: IncomingHttpHeaders, name: 'id' | 'timestamp' | 'signature'): string => {
	const value = headers[`svix-${name}`] ?? headers[`webhook-${name}`] ?? '';
	return typeof value === 'string' ? value : (value[0] ?? '');
};

const isEqual = (one: string, other: string): boolean => {
	const [left, right] = [Buffer.from(one), Buffer.from(other)];
	return left.length === right.length && timingSafeEqual(left, right);
};

const isSigned = ({secret, rawBody, headers, now}: SignedDelivery & {secret: string}): boolean => {
	const id = headerOf(headers, 'id');
	const timestamp = headerOf(headers, 'timestamp');
	const given = headerOf(headers, 'signature');
	if (id === '' || id.length > MAX_ID || given.length > MAX_SIGNATURE || !/^\d{1,11}$/.test(timestamp)) {
		return false;
	}

	const at = new Date(Number(timestamp) * 1000);
	if (Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp)) > TOLERANCE_SECONDS) {
		return false;
	}

	const expected = signWebhook(secret, {id, at, body: rawBody});
	// Several while a secret is being rotated; any one suffices, and unknown versions never match.
	return given.split(' ').some((signature) => isEqual(signature.replace(/,$/, ''), expected));
};

const bodyOf = (rawBody: Buffer): Omit<SignedEvent, 'id'> => {
	const text = rawBody.toString();
	const body: unknown = JSON.parse(text);
	// Reading anything deeper could overflow the stack.
	if (isTooDeep(body)) {
		throw invalidWebhookSignature();
	}

	const {type, data, timestamp} = (body ?? {}) as Record<string, unknown>;
	return {type: typeof type === 'string' ? type : '', data, text, at: timeIn(timestamp)};
};

/**
 * Verifies a delivery's signature (contract/identity 6). The secret is checked here and not at the start: an invalid
 * one refuses every delivery without stopping the service, and one that is too short would let anybody sign.
 * @throws 400 for any fault, without details.
 */
export const verifyProviderEvent = ({secret, ...signed}: SignedDelivery): SignedEvent => {
	try {
		if (secret !== null && isWebhookSecret(secret) && isSigned({secret, ...signed})) {
			return {id: headerOf(signed.headers, 'id'), ...bodyOf(signed.rawBody)};
		}
	} catch {
		// The parser throws for an invalid body, which is refused alike.
	}

	throw invalidWebhookSignature();
};
