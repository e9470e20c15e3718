import type {Call, FaultInput} from '../shared/faults.ts';
import type {Reply, Routes} from '../shared/http-server.ts';
import {findRoute} from '../shared/routes.ts';
import {isObject} from './directory.ts';
import {
	bodyInvalid,
	errorBody,
	missingKey,
	notFound,
	ProviderError,
	unsupportedContentType,
	wrongKey,
} from './provider-errors.ts';

const requireKey = ({headers}: Call, secretKey: string): void => {
	const {authorization} = headers;
	if (typeof authorization !== 'string') {
		throw missingKey();
	}

	if (authorization !== `Bearer ${secretKey}`) {
		throw wrongKey();
	}
};

/** The parsed body, recorded with the call as it came; no body counts as an empty one. */
const readJson = (call: Call): Record<string, unknown> => {
	if (typeof call.body !== 'string') {
		return {};
	}

	if (!String(call.headers['content-type']).startsWith('application/json')) {
		throw unsupportedContentType();
	}

	try {
		call.body = JSON.parse(call.body);
	} catch {
		throw bodyInvalid();
	}

	if (!isObject(call.body)) {
		throw bodyInvalid();
	}

	return call.body;
};

const refusalOf = (error: ProviderError): Reply => ({status: error.status, json: errorBody(error)});

/** The answer of a fault. */
export const failureReply = ({
	status = 500,
	code = status === 429 ? 'too_many_requests' : 'internal_error',
	message = 'Oops, an unexpected error occurred',
}: FaultInput): Reply => refusalOf(new ProviderError(status, code, message));

/** The answer of a path; those below `/v1/` require the secret key, the others are open. */
export const answerApi = (routes: Routes, secretKey: string, call: Call): Reply => {
	try {
		if (call.path.startsWith('/v1/')) {
			requireKey(call, secretKey);
		}

		const body = readJson(call);
		const route = findRoute(routes, call);
		if (route === null) {
			throw notFound(`${call.method} ${call.path}`);
		}

		return {status: 200, json: route.handle({params: route.params, query: call.query, body})};
	} catch (error) {
		return error instanceof ProviderError ? refusalOf(error) : failureReply({message: String(error)});
	}
};
