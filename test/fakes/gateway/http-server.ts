import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import {setImmediate as turn, setTimeout as wait} from 'node:timers/promises';
import type {Call, FaultInput, Faults} from '../identity-provider/faults.ts';

/** An answer: JSON, or a page for people. */
export type Reply = {status: number; headers?: Record<string, string>} & ({json: unknown} | {html: string});

/** A gateway's answers and the wording of injected failures. Neither throws. */
export type GatewayApi = {answer(call: Call): Reply; failure(call: Call, fault: FaultInput): Reply};

type Options = GatewayApi & {faults: Faults; calls: Call[]; port: number};

const refuses = ({status, code, rawBody}: FaultInput): boolean =>
	[status, code, rawBody].some((part) => part !== undefined);

const write = (call: Call, response: ServerResponse, reply: Reply): void => {
	call.status = reply.status;
	const isPage = 'html' in reply;
	const type = isPage ? 'text/html; charset=utf-8' : 'application/json';
	response.writeHead(reply.status, {'content-type': type, ...reply.headers});
	response.end(isPage ? reply.html : JSON.stringify(reply.json));
};

/** How a call ends: with an answer, or without one. */
const endingOf = async (call: Call, options: Options): Promise<Reply | 'dropped' | 'hanging'> => {
	const fault = options.faults.take(call);
	if (fault === null) {
		return options.answer(call);
	}

	if (fault.delay !== undefined) {
		await wait(fault.delay);
	}

	const fails = fault.hang || fault.drop || refuses(fault);
	const performed = fault.afterwards || !fails ? options.answer(call) : null;
	if (fault.hang || fault.drop) {
		return fault.hang ? 'hanging' : 'dropped';
	}

	if (fault.rawBody !== undefined) {
		return {status: fault.status ?? 502, html: fault.rawBody};
	}

	return performed !== null && !fails ? performed : options.failure(call, fault);
};

const respond = async (call: Call, response: ServerResponse, options: Options): Promise<void> => {
	const ending = await endingOf(call, options);
	if (ending === 'dropped') {
		response.destroy();
	} else if (ending !== 'hanging') {
		write(call, response, ending);
	}
};

/** The equivalent of `fetch` for a server of this process. */
export type DirectFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Answers calls of this process as the server does, but without sockets, which cost more than everything else about
 * them. Each takes a turn there and one back, as over the network.
 */
const createDirectFetch =
	(options: Options): DirectFetch =>
	async (input, {method = 'GET', headers, body, signal} = {}) => {
		const {pathname: path, searchParams: query} = new URL(String(input));
		const call: Call = {
			method,
			path,
			query,
			headers: Object.fromEntries(new Headers(headers)),
			body: body ? String(body) : undefined,
			status: null,
		};
		await turn();
		options.calls.push(call);
		const ending = await endingOf(call, options);
		await turn();
		if (ending === 'dropped') {
			throw new TypeError('fetch failed');
		}

		if (ending === 'hanging') {
			return new Promise((_, reject) => {
				signal?.addEventListener('abort', () => reject(signal.reason));
			});
		}

		call.status = ending.status;
		const text = 'html' in ending ? ending.html : JSON.stringify(ending.json);
		return new Response(text, {status: ending.status, headers: ending.headers ?? {}});
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

export type GatewayServer = {url: string; fetch: DirectFetch; stop(): Promise<void>};

/** Listens on loopback, records every request, and injects faults. A truncated request is ignored. */
export const startGatewayServer = async (options: Options): Promise<GatewayServer> => {
	const server = createServer(async (request, response) => {
		const call = await recordCall(request).catch(() => null);
		if (call !== null) {
			options.calls.push(call);
			await respond(call, response, options);
		}
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(options.port, '127.0.0.1', resolve);
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		fetch: createDirectFetch(options),
		stop: async () => {
			const closed = new Promise((resolve) => {
				server.close(resolve);
			});
			server.closeAllConnections();
			await closed;
		},
	};
};
