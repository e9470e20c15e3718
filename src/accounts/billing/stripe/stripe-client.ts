import {createRequire} from 'node:module';
import type Stripe from 'stripe';
import type {StripeConfig} from '../../../platform/config/config.ts';
import {gatewayFailed} from '../../../platform/errors.ts';
import {fetchBounded} from '../../../platform/http/fetch-bounded.ts';

/** Timeout of a call. The library retries failed connections under the same idempotency key. */
const TIMEOUT_MS = 10_000;
const RETRIES = 2;
/** A page of 100 invoices has more than other services answer. */
const ANSWER_BYTES = 2 * 1024 * 1024;

const require = createRequire(import.meta.url);

/** The official library. STRIPE_API_URL sets another host. */
export const createStripe = ({secretKey, apiUrl}: StripeConfig, {timeoutMs = TIMEOUT_MS} = {}): Stripe => {
	const url = apiUrl === null ? null : new URL(apiUrl);
	// Loaded on use: it takes longer than the rest of the start.
	const Library = require('stripe') as typeof Stripe;
	return new Library(secretKey, {
		timeout: timeoutMs,
		maxNetworkRetries: RETRIES,
		telemetry: false,
		// One of the library's own HTTP clients reads without a bound, and the other has no timeout while bytes arrive.
		httpClient: Library.createFetchHttpClient((to: string | URL | Request, init?: RequestInit) =>
			fetchBounded(String(to), {...init, redirect: 'error'}, ANSWER_BYTES),
		),
		...(url === null
			? {}
			: {
					host: url.hostname,
					protocol: url.protocol === 'http:' ? 'http' : 'https',
					port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port),
				}),
	});
};

/** Whether Stripe answers that the object does not exist, or cannot be changed. */
const isRefusal = (error: unknown): error is {code?: string; statusCode?: number} =>
	error instanceof Error && (error as {type?: string}).type === 'StripeInvalidRequestError';

/** Runs a call. @throws 502 on any failure: it is never the caller's fault. */
export const call = <T>(request: Promise<T>): Promise<T> =>
	request.catch((error: unknown) => {
		throw gatewayFailed(error);
	});

/** Runs a call that Stripe may refuse. @returns the refusal, or null on success. @throws 502. */
export const callOrRefusal = (request: Promise<unknown>): Promise<{code: string} | null> =>
	request.then(
		() => null,
		(error: unknown) => {
			if (isRefusal(error)) {
				return {code: error.code ?? 'invalid_request'};
			}

			throw gatewayFailed(error);
		},
	);

/** Runs a call. @returns its result, or null if the object does not exist. @throws 502. */
export const callOrNull = <T>(request: Promise<T>): Promise<T | null> =>
	request.catch((error: unknown) => {
		if (isRefusal(error) && (error.code === 'resource_missing' || error.statusCode === 404)) {
			return null;
		}

		throw gatewayFailed(error);
	});

/** Whether a value can be an id or a type of Stripe: short, printable ASCII. */
export const isName = (value: unknown): value is string =>
	typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value);

/** The id of an object or of a reference to it; null if it is absent or invalid. */
export const idOf = (value: string | {id?: string} | null | undefined): string | null => {
	const id = typeof value === 'string' ? value : value?.id;
	return isName(id) ? id : null;
};

/** Unix seconds as a Date. */
export const dateOf = (seconds: number): Date => new Date(seconds * 1000);
