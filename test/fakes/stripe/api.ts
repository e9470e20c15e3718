import type {Reply} from '../gateway/http-server.ts';
import type {Call, FaultInput} from '../identity-provider/faults.ts';
import {matchPath} from '../identity-provider/match-path.ts';
import {type Account, API_VERSION, NO_REQUEST, newId} from './account.ts';
import {expand} from './expand.ts';
import {type Params, readForm} from './form.ts';
import {createIdempotencyKeys, isKept, type Outcome} from './idempotency.ts';
import {resources} from './resources.ts';
import {
	failureOf,
	missingKey,
	StripeError,
	unknownUrl,
	wrongContentType,
	wrongKey,
	wrongVersion,
} from './stripe-errors.ts';
import {catchUp} from './time.ts';

const header = ({headers}: Call, name: string): string | null => {
	const value = headers[name];
	return typeof value === 'string' ? value : null;
};

/** Credential and version, before anything is looked at. */
const checkHeaders = (call: Call, secretKey: string): void => {
	const key = /^Bearer (.+)$/.exec(header(call, 'authorization') ?? '')?.[1];
	if (key === undefined) {
		throw missingKey();
	}

	if (key !== secretKey) {
		throw wrongKey(key);
	}

	const version = header(call, 'stripe-version');
	if (version !== null && version !== API_VERSION) {
		throw wrongVersion(version);
	}
};

const paramsOf = (call: Call): Params => {
	if (typeof call.body !== 'string') {
		return readForm(call.query);
	}

	if (!header(call, 'content-type')?.startsWith('application/x-www-form-urlencoded')) {
		throw wrongContentType();
	}

	return readForm(new URLSearchParams(call.body));
};

const execute = (account: Account, {method, path}: Call, params: Params): object => {
	for (const resource of resources) {
		const found = resource.method === method ? matchPath(resource.path, path) : null;
		if (found !== null) {
			return expand(account, resource.handle(account, params, found['id'] ?? ''), params['expand']);
		}
	}

	throw unknownUrl(method, path);
};

const outcomeOf = (error: unknown): Outcome => {
	const known = error instanceof StripeError ? error : failureOf({message: String(error)});
	return {status: known.status, json: {error: {message: known.message, ...known.details}}};
};

/** The API of the gateway: `/v1/…`, form-encoded requests, JSON answers (contract/billing 14). */
export const createApi = (account: Account, secretKey: string) => {
	const keys = createIdempotencyKeys(account);

	const perform = (call: Call, params: Params, key: string | null, requestId: string): Outcome => {
		const request = `${call.method} ${call.path} ${JSON.stringify(params)}`;
		account.request = {id: requestId, idempotency_key: key};
		try {
			const outcome = {status: 200, json: execute(account, call, params)};
			if (key !== null) {
				keys.keep(key, request, requestId, outcome);
			}

			return outcome;
		} catch (error) {
			if (key !== null && isKept(error)) {
				keys.keep(key, request, requestId, outcomeOf(error));
			}

			throw error;
		} finally {
			account.request = NO_REQUEST;
		}
	};

	const respond = (call: Call, requestId: string): Reply => {
		checkHeaders(call, secretKey);
		catchUp(account);
		const params = paramsOf(call);
		call.body = typeof call.body === 'string' ? params : call.body;
		// On other methods the real one ignores the header.
		const key = call.method === 'POST' ? header(call, 'idempotency-key') : null;
		const echo = key === null ? {} : {'idempotency-key': key};
		const replayed = key === null ? null : keys.replay(key, `${call.method} ${call.path} ${JSON.stringify(params)}`);
		if (replayed !== null) {
			const headers = {...echo, 'idempotent-replayed': 'true', 'original-request': replayed.requestId};
			return {...replayed.outcome, headers};
		}

		return {...perform(call, params, key, requestId), headers: echo};
	};

	const finish = ({headers, ...reply}: Reply, requestId: string): Reply => ({
		...reply,
		headers: {'request-id': requestId, 'stripe-version': API_VERSION, ...headers},
	});

	return {
		answer: (call: Call): Reply => {
			const requestId = newId('req');
			try {
				return finish(respond(call, requestId), requestId);
			} catch (error) {
				return finish(outcomeOf(error), requestId);
			}
		},
		failure: (_call: Call, fault: FaultInput): Reply => finish(outcomeOf(failureOf(fault)), newId('req')),
	};
};
