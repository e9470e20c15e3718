import {setTimeout as delay} from 'node:timers/promises';
import type {Logger} from 'pino';
import {type HttpError, providerConflict, providerRefused, providerRejected, providerUnavailable} from '../errors.ts';
import {readProviderError} from './provider-payloads.ts';

/** One call of the backend API. `query` repeats a key per value of an array. */
export type ProviderCall = {
	method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
	path: string;
	query?: Readonly<Record<string, string | number | readonly string[]>>;
	body?: object;
};

/** The version of the API that contract/identity 10 describes. */
const API_VERSION = '2026-05-12';
/** For one call with all its attempts, so that whoever waits for several still answers in time. */
const BUDGET_MS = 5000;
const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 200;

/** Refusals that mean 'there is one already', or 'as things are that cannot be done'. */
const CONFLICTS = new Set([
	'already_a_member_in_organization',
	'organization_invitation_not_unique',
	'duplicate_record',
	'form_identifier_exists',
	'exclusive_organization_membership',
	'organization_minimum_permissions_needed',
	'organization_invitation_not_pending',
]);

/** Codes of limits that an organization or a user has at the provider: more members, invitations, organizations than it may. */
const LIMIT_CODE = /(?:quota|limit)_exceeded$/;
/** Refusals that mean us: our key, our account, how the operator set it up. No caller can do anything about them. */
const OUR_FAULTS = new Set([
	'authorization_invalid',
	'organization_not_enabled_in_instance',
	'organization_slugs_disabled',
	'too_many_requests',
]);

/** True for a limit of the organization there, and not for one on us: 429, or the plan of our account (402). */
const isTheirLimit = (status: number, code: string): boolean =>
	status === 403 ? !OUR_FAULTS.has(code) : status !== 429 && status < 500 && LIMIT_CODE.test(code);

/** An answer that came, whatever it says; `body` is undefined for what is not valid JSON, and never null. */
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

const parse = (text: string): unknown => {
	try {
		return JSON.parse(text) ?? undefined;
	} catch {
		return undefined;
	}
};

const secondsIn = (header: string | null): number | null =>
	header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) : null;

/**
 * What the caller is told of a refusal: 403 for a limit of the organization there, 409, 400 with its words for a value that
 * it does not take, 502 for what is its fault or ours, a limit on us included.
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
 * Calls of the provider's backend API. One call takes at most 5 s. GET and DELETE are tried again, at most twice, after
 * a network error, 429 and 5xx; nothing else is, because it could be done twice (contract/identity 13,
 * contract/identity 10).
 * @returns the body of a 2xx, undefined where that is not valid JSON; null for a 404. @throws 400, 403, 409, 502.
 */
export const createProviderHttp = ({apiUrl, apiKey, log}: {apiUrl: string; apiKey: string | null; log: Logger}) => {
	const once = async (call: ProviderCall, key: string, signal: AbortSignal): Promise<ProviderAnswer> => {
		const response = await fetch(urlOf(apiUrl, call), {
			method: call.method,
			headers: {
				Authorization: `Bearer ${key}`,
				'Clerk-API-Version': API_VERSION,
				'Content-Type': 'application/json',
				Accept: 'application/json',
			},
			...(call.body === undefined ? {} : {body: JSON.stringify(call.body)}),
			// A redirect would take the key elsewhere.
			redirect: 'error',
			signal,
		});
		return {
			status: response.status,
			retryAfterSeconds: secondsIn(response.headers.get('retry-after')),
			body: parse(await response.text()),
		};
	};

	const answerTo = async (call: ProviderCall, key: string): Promise<ProviderAnswer> => {
		const began = performance.now();
		const signal = AbortSignal.timeout(BUDGET_MS);
		const attempts = call.method === 'GET' || call.method === 'DELETE' ? MAX_ATTEMPTS : 1;
		for (let attempt = 1; ; attempt += 1) {
			const outcome = await once(call, key, signal).catch((failure: unknown) => ({failure}));
			const isFailure = 'failure' in outcome;
			const isWorthATry = isFailure ? !signal.aborted : outcome.status === 429 || outcome.status >= 500;
			const asked = isFailure ? null : outcome.retryAfterSeconds;
			const pause = asked === null ? FIRST_PAUSE_MS * 2 ** (attempt - 1) : asked * 1000;
			if (isWorthATry && attempt < attempts && performance.now() - began + pause < BUDGET_MS) {
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
		// A wrong key or an account that may not: only the operator can repair it.
		const isOurs = status === 401 || status === 402 || OUR_FAULTS.has(code);
		log[isOurs && status !== 429 ? 'error' : 'warn']({method, path, status, code}, message);
		throw faultOf(answer);
	};
};
