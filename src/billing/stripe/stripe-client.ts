import {createRequire} from 'node:module';
import type Stripe from 'stripe';
import type {StripeConfig} from '../../config/config.ts';
import {gatewayFailed} from '../../errors.ts';

/** Longest that a call may take; the library repeats one whose connection failed, under the same idempotency key. */
const TIMEOUT_MS = 10_000;
const RETRIES = 2;

const require = createRequire(import.meta.url);

/** The official library, pointed elsewhere where it is configured so: host and port can be set on the client alone. */
export const createStripe = ({secretKey, apiUrl}: StripeConfig, {timeoutMs = TIMEOUT_MS} = {}): Stripe => {
	const elsewhere = apiUrl === null ? null : new URL(apiUrl);
	// Loaded where it is configured alone: it takes longer than the rest of a start together.
	const Library = require('stripe') as typeof Stripe;
	return new Library(secretKey, {
		timeout: timeoutMs,
		maxNetworkRetries: RETRIES,
		telemetry: false,
		...(elsewhere === null
			? {}
			: {
					host: elsewhere.hostname,
					protocol: elsewhere.protocol === 'http:' ? 'http' : 'https',
					port: elsewhere.port === '' ? (elsewhere.protocol === 'http:' ? 80 : 443) : Number(elsewhere.port),
				}),
	});
};

/** Whether the gateway says that there is no such thing, or none in a state to be changed. */
const isRefusal = (error: unknown): error is {code?: string; statusCode?: number} =>
	error instanceof Error && (error as {type?: string}).type === 'StripeInvalidRequestError';

/** Runs a call. @throws 502 where it fails: whatever the gateway refuses is ours to mend, not the caller's. */
export const ask = async <T>(call: Promise<T>): Promise<T> => {
	try {
		return await call;
	} catch (error) {
		throw gatewayFailed(error);
	}
};

/** What the gateway calls its reason for a refusal. */
export type Refusal = {code: string};

/** Runs a call that the gateway may refuse. @returns how it did, null where it was done. @throws 502. */
export const askOrRefusal = async (call: Promise<unknown>): Promise<Refusal | null> => {
	try {
		await call;
		return null;
	} catch (error) {
		if (isRefusal(error)) {
			return {code: error.code ?? 'invalid_request'};
		}

		throw gatewayFailed(error);
	}
};

/** What a call gives, or null where there is no such thing. @throws 502. */
export const askFor = async <T>(call: Promise<T>): Promise<T | null> => {
	try {
		return await call;
	} catch (error) {
		if (isRefusal(error) && (error.code === 'resource_missing' || error.statusCode === 404)) {
			return null;
		}

		throw gatewayFailed(error);
	}
};

/** Whether a value is such a text as the gateway's ids and types are, which any column and index can hold. */
export const isName = (value: unknown): value is string =>
	typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value);

/** The id of what may have come expanded; what is none counts as absent. */
export const idOf = (value: string | {id?: string} | null | undefined): string | null => {
	const id = typeof value === 'string' ? value : value?.id;
	return isName(id) ? id : null;
};

/** Unix seconds as a Date. */
export const dateOf = (seconds: number): Date => new Date(seconds * 1000);
