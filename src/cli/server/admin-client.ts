import {buffer} from 'node:stream/consumers';
import {createApiCaller, queryText} from '../../client/api-caller.ts';
import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import type {HttpRequest} from '../../client/fetch-answer.ts';
import {exchangeLines} from '../import/exchange-lines.ts';

/** A value of the server as its JSON has it. */
export type Json<T> = T extends Date ? string : T extends object ? {[Key in keyof T]: Json<T[Key]>} : T;

/** Query parameters; undefined ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A client of the admin API. Every call throws OplinkApiError for a status other than 2xx and OplinkConnectionError
 * without an answer; it returns the parsed body.
 */
export type ApiClient = {
	baseUrl: string;
	get: <T>(path: string, query?: Query) => Promise<T>;
	post: <T>(path: string, body?: unknown) => Promise<T>;
	put: <T>(path: string, body: unknown) => Promise<T>;
	patch: <T>(path: string, body: unknown) => Promise<T>;
	delete: <T>(path: string) => Promise<T>;
	/** An image or another body that is not JSON. */
	bytes: (path: string, query?: Query) => Promise<Uint8Array>;
	/** A streamed body, chunk by chunk. */
	stream: (path: string, query?: Query, headers?: Record<string, string>) => AsyncIterable<Uint8Array>;
	/** Sends and reads lines concurrently, with backpressure in both directions. */
	exchange: (path: string, query: Query, lines: AsyncIterable<string>) => AsyncIterable<string>;
};

export type ClientOptions = {
	baseUrl: string;
	token: string;
	/** Aborts all requests. */
	signal: AbortSignal;
	timeoutSeconds?: number;
};

/** No retries: the operator repeats a failed command, and a retry could do it twice. */
const never = {connection: false, rateLimit: false, serverFailure: false};

/** fetch that `signal` aborts too. */
export const endedBy =
	(signal: AbortSignal) =>
	(url: string, init: RequestInit & {signal: AbortSignal}): Promise<Response> =>
		fetch(url, {...init, signal: AbortSignal.any([signal, init.signal])});

export const createClient = ({baseUrl, token, signal, timeoutSeconds = 60}: ClientOptions): ApiClient => {
	const headers = {Authorization: `Bearer ${token}`};
	const call = createApiCaller({
		baseUrl,
		fetch: endedBy(signal),
		timeoutSeconds,
		maxRetries: 0,
		sleep: async () => {},
	});
	const json = <T>(method: HttpRequest['method'], path: string, more: {query?: Query; body?: unknown} = {}) =>
		call<T>({method, path, rule: never, headers, ...more});

	const chunksOf = async function* (
		path: string,
		query: Query = {},
		{ends = signal, more = {}}: {ends?: AbortSignal; more?: Record<string, string>} = {},
	): AsyncGenerator<Uint8Array> {
		try {
			const response = await fetch(`${baseUrl}${path}${queryText(query)}`, {
				headers: {...headers, ...more},
				signal: ends,
			});
			if (!response.ok) {
				throw new OplinkApiError({status: response.status, text: await response.text()});
			}

			for await (const chunk of response.body ?? []) {
				yield chunk as Uint8Array;
			}
		} catch (error) {
			throw error instanceof OplinkApiError ? error : new OplinkConnectionError({method: 'GET', baseUrl, path}, error);
		}
	};

	return {
		baseUrl,
		get: (path, query = {}) => json('GET', path, {query}),
		post: (path, body) => json('POST', path, {body}),
		put: (path, body) => json('PUT', path, {body}),
		patch: (path, body) => json('PATCH', path, {body}),
		delete: (path) => json('DELETE', path),
		bytes: (path, query) => {
			const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
			return buffer(chunksOf(path, query, {ends}));
		},
		stream: (path, query, more = {}) => chunksOf(path, query, {more}),
		exchange: (path, query, lines) =>
			exchangeLines({baseUrl, path: `${path}${queryText(query)}`, token, signal}, lines),
	};
};
