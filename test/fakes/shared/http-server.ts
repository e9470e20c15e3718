import {once} from 'node:events';
import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import {setImmediate as turn, setTimeout as wait} from 'node:timers/promises';
import {type Call, createFaults, type FaultInput} from './faults.ts';
import {findRoute} from './routes.ts';

/** An answer: JSON, or text, which is a page unless the headers say otherwise. */
export type Reply = {status: number; headers?: Record<string, string>} & ({json: unknown} | {html: string});

/** Handlers by `METHOD /path/:name`. What they return is sent as JSON, or text as it is. */
export type Routes = Record<
	string,
	(request: {params: Record<string, string>; query: URLSearchParams; body: Record<string, unknown>}) => unknown
>;

/** What a fake answers, and how it words injected failures. Neither throws. */
type Api = {answer(call: Call): Reply | Promise<Reply>; failure(fault: FaultInput): Reply};

/** The equivalent of `fetch` for a server of this process. */
export type DirectFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The answer of a path for people, null for other paths. People send JSON with curl, whose content type is a form. */
const answerPerson = (routes: Routes, call: Call): Promise<Reply> | null => {
	const found = findRoute(routes, call);
	const answer = async (): Promise<Reply> => {
		try {
			const body = typeof call.body === 'string' ? JSON.parse(call.body) : {};
			const result = await found?.handle({params: found.params, query: call.query, body});
			const headers = {'content-type': 'text/plain; charset=utf-8'};
			return typeof result === 'string' ? {status: 200, headers, html: result} : {status: 200, json: result ?? {}};
		} catch (error) {
			return {status: 400, json: {error: String(error)}};
		}
	};
	return found && answer();
};

const contentOf = (reply: Reply): {type: string; body: string} =>
	'html' in reply
		? {type: 'text/html; charset=utf-8', body: reply.html}
		: // Exactly this type: the identity provider's own library takes `; charset=utf-8` for no JSON.
			{type: 'application/json', body: JSON.stringify(reply.json)};

const recordCall = async (request: IncomingMessage): Promise<Call> => {
	const {pathname: path, searchParams: query} = new URL(request.url ?? '/', 'http://localhost');
	const body = (await text(request)) || undefined;
	return {method: request.method ?? '', path, query, headers: request.headers, body, status: null};
};

/** Listens on loopback, records every request, and injects faults. A truncated request is ignored. */
export const startServer = async ({answer, failure, port}: Api & {port: number}) => {
	const faults = createFaults();
	const calls: Call[] = [];
	const people: Routes = {};

	/** How a call ends: with an answer, or without one. */
	const endingOf = async (call: Call): Promise<Reply | 'dropped' | 'hanging'> => {
		const perform = () => answerPerson(people, call) ?? answer(call);
		calls.push(call);
		const fault = faults.take(call);
		if (fault === null) {
			return perform();
		}

		if (fault.delay !== undefined) {
			await wait(fault.delay);
		}

		const {status, code, rawBody, retryAfter, hang, drop} = fault;
		const fails = hang || drop || [status, code, rawBody, retryAfter].some((part) => part !== undefined);
		const performed = fault.afterwards || !fails ? await perform() : null;
		if (hang || drop) {
			return hang ? 'hanging' : 'dropped';
		}

		if (performed !== null && !fails) {
			return performed;
		}

		const page = {status: status ?? 502, headers: {'content-type': 'text/html'}, html: rawBody ?? ''};
		const reply: Reply = rawBody === undefined ? failure(fault) : page;
		return retryAfter === undefined
			? reply
			: {...reply, headers: {'retry-after': String(retryAfter), ...reply.headers}};
	};

	/**
	 * Answers calls of this process as the server does, but without sockets, which cost more than everything else about
	 * them. Each takes a turn there and one back, as over the network.
	 */
	const directFetch: DirectFetch = async (input, {method = 'GET', headers: given, body, signal} = {}) => {
		const {pathname: path, searchParams: query} = new URL(String(input));
		const headers = Object.fromEntries(new Headers(given));
		const call: Call = {method, path, query, headers, body: body ? String(body) : undefined, status: null};
		await turn();
		const ending = await endingOf(call);
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
		return new Response(contentOf(ending).body, {status: ending.status, headers: ending.headers ?? {}});
	};

	const server = createServer(async (request, response) => {
		const call = await recordCall(request).catch(() => null);
		const ending = call === null ? 'hanging' : await endingOf(call);
		if (ending === 'dropped') {
			response.destroy();
		} else if (call !== null && ending !== 'hanging') {
			call.status = ending.status;
			const {type, body} = contentOf(ending);
			response.writeHead(ending.status, {'content-type': type, ...ending.headers}).end(body);
		}
	});
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		/** Calls it without a socket, for a test that makes very many calls. */
		fetch: directFetch,
		/** Every request so far, oldest first. */
		calls,
		/**
		 * Makes the next calls fail; the first fault that meets a call is the one it meets. With `hang` or `drop` and
		 * `afterwards` a call takes effect, and nobody hears of it.
		 */
		fail: faults.add,
		clearFaults: faults.clear,
		/** More paths, for people. */
		serve: (routes: Routes): void => void Object.assign(people, routes),
		stop: async (): Promise<void> => {
			const closed = new Promise((resolve) => {
				server.close(resolve);
			});
			server.closeAllConnections();
			await closed;
		},
	};
};
