import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {
	type HttpError,
	providerConflict,
	providerRefused,
	providerRejected,
	providerUnavailable,
} from '../../platform/errors.ts';
import {fetchBounded} from '../../platform/http/fetch-bounded.ts';
import {parseJson} from '../../platform/http/untrusted-json.ts';
import {readProviderError} from './provider-payloads.ts';

/** One call of the backend API. `query` repeats a key per value of an array. */
export type ProviderCall = {
	method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
	path: string;
	query?: Readonly<Record<string, string | number | readonly string[]>>;
	body?: object;
};

/** The API version that contract/identity 10 describes. */
const API_VERSION = '2026-05-12';
/** For one call with all its attempts: a request with several calls must still answer in time. */
const BUDGET_MS = 5000;
const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 200;

/** Errors for duplicates and conflicts with the current state. */
const CONFLICTS = new Set([
	'already_a_member_in_organization',
	'organization_invitation_not_unique',
	'duplicate_record',
	'form_identifier_exists',
	'exclusive_organization_membership',
	'organization_minimum_permissions_needed',
	'organization_invitation_not_pending',
]);

/** Error codes for the provider's limits of an organization or a user: members, invitations, organizations. */
const LIMIT_CODE = /(?:quota|limit)_exceeded$/;
/** Errors caused by us: our key, our account, its settings. No caller can fix them. */
const OUR_FAULTS = new Set([
	'authorization_invalid',
	'organization_not_enabled_in_instance',
	'organization_slugs_disabled',
	'too_many_requests',
]);

/** True if the provider limits the organization or user; false if it limits us: 429, or our account's plan (402). */
const isTheirLimit = (status: number, code: string): boolean =>
	status === 403 ? !OUR_FAULTS.has(code) : status !== 429 && status < 500 && LIMIT_CODE.test(code);

/** A received answer of any status; `body` is undefined for invalid JSON, and never null. */
type ProviderAnswer = {status: number; retryAfterSeconds: number | null; body: unknown};

const urlOf = (apiUrl: string, {path, query = {}}: ProviderCall): string => {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) {
		for (const one of Array.isArray(value) ? value : [value]) {
			search.append(name, String(one));
		}
	}

	return `${apiUrl}${path}${search.size === 0 ? '' : `?${search}`}`;
};

const secondsIn = (header: string | null): number | null =>
	header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) : null;

/**
 * Maps a refusal for our caller: 403 if the provider limits the organization, 409, 400 with its message for a
 * rejected value, 502 if the provider or our key, account or settings are at fault, or it limits us.
 */
const faultOf = ({status, body}: ProviderAnswer): HttpError => {
	const {code, message} = readProviderError(body);
	if (isTheirLimit(status, code)) {
		return providerRefused(message);
	}

	if (CONFLICTS.has(code) || status === 409) {
		return providerConflict(message);
	}

	return status === 400 || status === 422 ? providerRejected(message) : providerUnavailable();
};

/**
 * Calls of the provider's backend API. One call takes at most 5 s. GET and DELETE are retried at most twice after a
 * network error, 429 and 5xx; other methods are not, because they could be executed twice (contract/identity 13,
 * contract/identity 10).
 * @returns the body of a 2xx, undefined if it is not valid JSON; null for a 404. @throws 400, 403, 409, 502.
 */
export const createProviderHttp = ({apiUrl, apiKey, log}: {apiUrl: string; apiKey: string | null; log: Logger}) => {
	const once = async (call: ProviderCall, key: string, signal: AbortSignal): Promise<ProviderAnswer> => {
		const response = await fetchBounded(urlOf(apiUrl, call), {
			method: call.method,
			headers: {
				Authorization: `Bearer ${key}`,
				'Clerk-API-Version': API_VERSION,
				'Content-Type': 'application/json',
				Accept: 'application/json',
			},
			...(call.body === undefined ? {} : {body: JSON.stringify(call.body)}),
			// A redirect would send the key elsewhere.
			redirect: 'error',
			signal,
		});
		return {
			status: response.status,
			retryAfterSeconds: secondsIn(response.headers.get('retry-after')),
			body: parseJson(await response.text()) ?? undefined,
		};
	};

	const answerTo = async (call: ProviderCall, key: string): Promise<ProviderAnswer> => {
		const began = performance.now();
		const signal = AbortSignal.timeout(BUDGET_MS);
		const attempts = call.method === 'GET' || call.method === 'DELETE' ? MAX_ATTEMPTS : 1;
		for (let attempt = 1; ; attempt += 1) {
			const outcome = await once(call, key, signal).catch((failure: unknown) => ({failure}));
			const isFailure = 'failure' in outcome;
			const isRetryable = isFailure ? !signal.aborted : outcome.status === 429 || outcome.status >= 500;
			const retryAfter = isFailure ? null : outcome.retryAfterSeconds;
			const pause = retryAfter === null ? FIRST_PAUSE_MS * 2 ** (attempt - 1) : retryAfter * 1000;
			if (isRetryable && attempt < attempts && performance.now() - began + pause < BUDGET_MS) {
				await delay(pause);
			} else if (isFailure) {
				throw outcome.failure;
			} else {
				return outcome;
			}
		}
	};

	return async (call: ProviderCall): Promise<unknown> => {
		const {method, path} = call;
		if (apiKey === null) {
			log.error('the identity provider cannot be called: IDP_API_KEY is not set');
			throw providerUnavailable();
		}

		let answer: ProviderAnswer;
		try {
			answer = await answerTo(call, apiKey);
		} catch (error) {
			log.warn({err: error, method, path}, 'the identity provider does not answer');
			throw providerUnavailable(error);
		}

		const {status} = answer;
		if (status >= 200 && status < 300) {
			return answer.body;
		}

		if (status === 404) {
			return null;
		}

		const {code} = readProviderError(answer.body);
		const message = 'the identity provider refused a call';
		// A wrong key or an account without permission: only the operator can fix it.
		const isOurs = status === 401 || status === 402 || OUR_FAULTS.has(code);
		log[isOurs && status !== 429 ? 'error' : 'warn']({method, path, status, code}, message);
		throw faultOf(answer);
	};
};
