import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import {setTimeout as wait} from 'node:timers/promises';
import type {Call, FaultInput, Faults} from './faults.ts';
import {matchPath} from './match-path.ts';
import {
	bodyInvalid,
	errorBody,
	missingKey,
	notFound,
	ProviderError,
	unsupportedContentType,
	wrongKey,
} from './provider-errors.ts';

export type HttpRequest = {params: Record<string, string>; query: URLSearchParams; body: unknown};
/** Paths below `/v1/` require the secret key; the others are open. The result of `handle` is sent as JSON. */
export type HttpRoute = {
	method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
	path: string;
	handle(request: HttpRequest): unknown;
};

/** An answer that is plain text, for people. */
export type PlainText = {plainText: string};
const isPlainText = (answer: unknown): answer is PlainText =>
	typeof answer === 'object' && answer !== null && 'plainText' in answer;

type Options = {routes: HttpRoute[]; faults: Faults; calls: Call[]; secretKey: string; port: number};

const requireKey = ({headers}: Call, secretKey: string): void => {
	const {authorization} = headers;
	if (typeof authorization !== 'string') {
		throw missingKey();
	}

	if (authorization !== `Bearer ${secretKey}`) {
		throw wrongKey();
	}
};

/** The parsed body, recorded with the call as it came. */
const readJson = (call: Call): unknown => {
	if (typeof call.body !== 'string') {
		return undefined;
	}

	// People send to the other paths with curl, whose content type is a form.
	if (call.path.startsWith('/v1/') && !String(call.headers['content-type']).startsWith('application/json')) {
		throw unsupportedContentType();
	}

	try {
		call.body = JSON.parse(call.body);
	} catch {
		throw bodyInvalid();
	}

	return call.body;
};

const answerTo = async (call: Call, {routes, secretKey}: Options): Promise<unknown> => {
	if (call.path.startsWith('/v1/')) {
		requireKey(call, secretKey);
	}

	const body = readJson(call);
	for (const {method, path, handle} of routes) {
		const params = method === call.method ? matchPath(path, call.path) : null;
		if (params !== null) {
			return handle({params, query: call.query, body});
		}
	}

	throw notFound(`${call.method} ${call.path}`);
};

/** The answer of a fault. */
const failureOf = ({
	status = 500,
	code = status === 429 ? 'too_many_requests' : 'internal_error',
	message = 'Oops, an unexpected error occurred',
	retryAfter,
}: FaultInput) =>
	new ProviderError(
		status,
		code,
		message,
		message,
		undefined,
		retryAfter === undefined ? {} : {'retry-after': String(retryAfter)},
	);

const refuses = ({status, code, rawBody, retryAfter}: FaultInput): boolean =>
	[status, code, rawBody, retryAfter].some((part) => part !== undefined);

const respond = async (call: Call, response: ServerResponse, options: Options): Promise<void> => {
	const write = (status: number, type: string, body: string, headers: Record<string, string> = {}): void => {
		call.status = status;
		// Exactly this type: the provider's own library takes `; charset=utf-8` for no JSON.
		response.writeHead(status, {'content-type': type, ...headers}).end(body);
	};

	const fault = options.faults.take(call);
	if (fault?.delay !== undefined) {
		await wait(fault.delay);
	}

	try {
		if (fault?.afterwards) {
			await answerTo(call, options);
		}

		if (fault?.hang) {
			return;
		}

		if (fault?.drop) {
			response.destroy();
			return;
		}

		if (fault?.rawBody !== undefined) {
			write(fault.status ?? 502, 'text/html', fault.rawBody, failureOf(fault).headers);
			return;
		}

		if (fault !== null && refuses(fault)) {
			throw failureOf(fault);
		}

		const answer = await answerTo(call, options);
		if (isPlainText(answer)) {
			write(200, 'text/plain; charset=utf-8', answer.plainText);
		} else {
			write(200, 'application/json', JSON.stringify(answer));
		}
	} catch (error) {
		const known = error instanceof ProviderError ? error : failureOf({message: String(error)});
		write(known.status, 'application/json', JSON.stringify(errorBody(known)), known.headers);
	}
};

const recordCall = async (request: IncomingMessage): Promise<Call> => {
	const url = new URL(request.url ?? '/', 'http://localhost');
	const body = await text(request);
	return {
		method: request.method ?? '',
		path: url.pathname,
		query: url.searchParams,
		headers: request.headers,
		body: body === '' ? undefined : body,
		status: null,
	};
};

/** Listens on loopback. `routes` may still grow. */
export const startHttpServer = async (options: Options): Promise<{url: string; stop(): Promise<void>}> => {
	const server = createServer(async (request, response) => {
		const call = await recordCall(request);
		options.calls.push(call);
		await respond(call, response, options);
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(options.port, '127.0.0.1', resolve);
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		stop: async () => {
			const closed = new Promise((resolve) => {
				server.close(resolve);
			});
			server.closeAllConnections();
			await closed;
		},
	};
};
