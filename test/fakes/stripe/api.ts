import type {Call, FaultInput} from '../shared/faults.ts';
import type {Reply} from '../shared/http-server.ts';
import {findRoute} from '../shared/routes.ts';
import {type Account, API_VERSION, NO_REQUEST, newId} from './account.ts';
import {type Param, type Params, readForm} from './form.ts';
import {resources} from './resources.ts';
import {
	failureOf,
	invalidParam,
	missingKey,
	reusedKey,
	StripeError,
	unknownUrl,
	wrongContentType,
	wrongKey,
	wrongVersion,
} from './stripe-errors.ts';
import {catchUp} from './time.ts';

const KEPT_SECONDS = 24 * 3600;

/** An answer as it is kept: what was done, or how it was refused. */
type Outcome = {status: number; json: unknown};
type Kept = {request: string; outcome: Outcome; at: number; requestId: string};

/** What refuses before anything is done is not kept; a declined card and what was done are. */
const isKept = (error: unknown): boolean => error instanceof StripeError && error.status === 402;

/** Remembers answers for a day. */
const createIdempotencyKeys = (account: Account) => {
	const answers = new Map<string, Kept>();
	return {
		/**
		 * The kept answer of this key, null where the request is to be executed.
		 * @param request all that has to be the same again.
		 * @throws where the key was used for something else.
		 */
		replay: (key: string, request: string): Kept | null => {
			const kept = answers.get(key);
			if (kept === undefined || account.now() - kept.at >= KEPT_SECONDS) {
				return null;
			}

			if (kept.request !== request) {
				throw reusedKey(key);
			}

			return kept;
		},
		keep: (key: string, request: string, requestId: string, outcome: Outcome): void => {
			answers.set(key, {request, outcome, requestId, at: account.now()});
		},
	};
};

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** The object behind an id, of whatever kind. */
const find = (account: Account, id: string): object | undefined =>
	[account.customers, account.subscriptions, account.invoices, account.schedules, account.sessions].flatMap((map) => {
		const found = map.get(id);
		return found === undefined ? [] : [found];
	})[0];

/** An invoice carries the list of its payments only where it is asked for. */
const paymentsOf = (account: Account, {object, id}: Fields, name: string): unknown => {
	if (object !== 'invoice' || name !== 'payments') {
		return undefined;
	}

	const data = [...account.payments.values()].filter(({invoice}) => invoice === id);
	return {object: 'list', data, has_more: false, url: '/v1/invoice_payments'};
};

const expandPath = (account: Account, value: unknown, [name, ...rest]: string[], whole: string): void => {
	if (name === undefined || !isFields(value)) {
		return;
	}

	const member = value[name] ?? structuredClone(paymentsOf(account, value, name));
	if (member === undefined) {
		throw invalidParam('expand', `This property cannot be expanded (${whole}).`);
	}

	const found = typeof member === 'string' ? find(account, member) : undefined;
	const expanded = found === undefined ? member : structuredClone(found);
	value[name] = expanded;
	expandPath(account, expanded, rest, whole);
};

/** A copy of an object for an answer, with the objects of these paths instead of their ids. */
const expand = (account: Account, object: object, paths: Param | undefined): object => {
	const copy = structuredClone(object);
	for (const path of Array.isArray(paths) ? paths : []) {
		expandPath(account, copy, String(path).split('.'), String(path));
	}

	return copy;
};

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

const execute = (account: Account, call: Call, params: Params): object => {
	const route = findRoute(resources, call);
	if (route === null) {
		throw unknownUrl(call.method, call.path);
	}

	return expand(account, route.handle(account, params, route.params['id'] ?? ''), params['expand']);
};

const outcomeOf = (error: unknown): Outcome => {
	const known = error instanceof StripeError ? error : failureOf({message: String(error)});
	return {status: known.status, json: {error: {message: known.message, ...known.details}}};
};

/** The API of the gateway: `/v1/…`, form-encoded requests, JSON answers (contract/billing 14). */
export const createApi = (account: Account, secretKey: string) => {
	const keys = createIdempotencyKeys(account);

	const perform = (call: Call, params: Params, key: string | null, requestId: string): Reply => {
		const request = `${call.method} ${call.path} ${JSON.stringify(params)}`;
		const kept = key === null ? null : keys.replay(key, request);
		if (kept !== null) {
			return {...kept.outcome, headers: {'idempotent-replayed': 'true', 'original-request': kept.requestId}};
		}

		account.request = {id: requestId, idempotency_key: key};
		const keep = (outcome: Outcome): void => {
			if (key !== null) {
				keys.keep(key, request, requestId, outcome);
			}
		};
		try {
			const outcome = {status: 200, json: execute(account, call, params)};
			keep(outcome);
			return outcome;
		} catch (error) {
			if (isKept(error)) {
				keep(outcomeOf(error));
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
		const {headers, ...reply} = perform(call, params, key, requestId);
		return {...reply, headers: {...(key === null ? {} : {'idempotency-key': key}), ...headers}};
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
		failure: (fault: FaultInput): Reply => finish(outcomeOf(failureOf(fault)), newId('req')),
	};
};
