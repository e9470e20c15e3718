import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Logger} from 'pino';

/** The state of a request in the pipeline. */
type ExchangeState = {
	requestId: string;
	/** The pattern of its route. */
	route?: string;
	hostname: string | null;
	/** The orgKey of the custom domain that `hostname` names. */
	domainKey?: string;
	/** The wait under the limit of visits, if the request was counted before its route was known. */
	visitWait?: number;
	/** The log with the request's id. */
	log: () => Logger;
};

/** A request and its answer, as routes and the envelope see them: a context of Koa, or what `createExchange` makes. */
export type Exchange = {
	req: IncomingMessage;
	method: string;
	path: string;
	/** The parameters in the path. */
	params?: Record<string, string>;
	state: ExchangeState;
	status: number;
	body: unknown;
	/** Adds to the headers of the answer. */
	set(headers: Record<string, string>): void;
};

/**
 * A request to a path without parameters, and its answer, without Koa. The bars of `/sdk/events` and `POST /match`
 * (docs/performance.md) carry this: Koa's context, router and response take a fifth of such a request.
 * @param path the request's URL, which has no query.
 * @returns `send` writes the answer as Koa writes JSON.
 */
export const createExchange = (
	request: IncomingMessage,
	response: ServerResponse,
	path: string,
): {exchange: Exchange; send: () => void} => {
	const headers: Record<string, string> = {};
	const exchange: Exchange = {
		req: request,
		method: request.method ?? '',
		path,
		state: {
			requestId: '',
			hostname: null,
			log: () => {
				throw new Error('the envelope gives a request its log');
			},
		},
		status: 404,
		body: undefined,
		set: (more) => {
			Object.assign(headers, more);
		},
	};
	return {
		exchange,
		send: () => {
			const text = JSON.stringify(exchange.body);
			headers['Content-Type'] = 'application/json; charset=utf-8';
			headers['Content-Length'] = String(Buffer.byteLength(text));
			response.writeHead(exchange.status, headers);
			response.end(text);
		},
	};
};

/** Headers whose names and values alternate, as an object. */
export const headersOf = (alternating: readonly string[]): Record<string, string> => {
	const headers: Record<string, string> = {};
	for (let index = 0; index < alternating.length; index += 2) {
		headers[alternating[index] ?? ''] = alternating[index + 1] ?? '';
	}

	return headers;
};
