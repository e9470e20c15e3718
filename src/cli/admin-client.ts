import {apiErrorOf, ConnectionError, readAnswer} from './api-error.ts';
import {exchangeLines} from './exchange-lines.ts';

/** Values of a query; absent ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A client of the admin API, or with a SERVER key of the link management API. Every call throws ApiError for an answer
 * that is not 2xx and ConnectionError where there is none; what is returned is the body as it came.
 */
export type ApiClient = {
	baseUrl: string;
	get: <T>(path: string, query?: Query) => Promise<T>;
	post: <T>(path: string, body?: unknown, headers?: Record<string, string>) => Promise<T>;
	put: <T>(path: string, body: unknown) => Promise<T>;
	patch: <T>(path: string, body: unknown) => Promise<T>;
	delete: <T>(path: string) => Promise<T>;
	/** An image or another body that is no JSON. */
	bytes: (path: string, query?: Query) => Promise<Uint8Array>;
	/** A streamed body, chunk by chunk. */
	stream: (path: string, query?: Query) => AsyncIterable<Uint8Array>;
	/** Sends lines and reads lines at the same time, neither side faster than the other one takes them. */
	exchange: (path: string, query: Query, lines: AsyncIterable<string>) => AsyncIterable<string>;
};

export type ClientOptions = {
	baseUrl: string;
	token: string;
	/** Ends every request under way. */
	signal: AbortSignal;
	timeoutSeconds?: number;
};

const queryString = (query: Query): string => {
	const given = Object.entries(query).flatMap(
		([name, value]): Array<[string, string]> => (value === undefined ? [] : [[name, String(value)]]),
	);
	return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

/** @see ApiClient */
export const createClient = ({baseUrl, token, signal, timeoutSeconds = 60}: ClientOptions): ApiClient => {
	const urlOf = (path: string, query: Query = {}) => `${baseUrl}${path}${queryString(query)}`;

	const send = async (method: string, url: string, body?: unknown, headers?: Record<string, string>, limit = true) => {
		const ends = limit ? AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]) : signal;
		try {
			return await fetch(url, {
				method,
				headers: {
					authorization: `Bearer ${token}`,
					...(body === undefined ? {} : {'content-type': 'application/json'}),
					...headers,
				},
				...(body === undefined ? {} : {body: JSON.stringify(body)}),
				signal: ends,
			});
		} catch (error) {
			signal.throwIfAborted();
			throw new ConnectionError(baseUrl, error);
		}
	};

	const json = async <T>(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<T> => {
		const response = await send(method, url, body, headers);
		return readAnswer<T>({status: response.status, text: await readText(response)});
	};

	const readText = async (response: Response): Promise<string> => {
		try {
			return await response.text();
		} catch (error) {
			signal.throwIfAborted();
			throw new ConnectionError(baseUrl, error);
		}
	};

	const opened = async (path: string, query: Query | undefined, limit: boolean): Promise<Response> => {
		const response = await send('GET', urlOf(path, query), undefined, undefined, limit);
		if (!response.ok) {
			throw apiErrorOf({status: response.status, text: await readText(response)});
		}

		return response;
	};

	const chunksOf = async function* (path: string, query?: Query): AsyncGenerator<Uint8Array> {
		const {body} = await opened(path, query, false);
		try {
			for await (const chunk of body ?? []) {
				yield chunk as Uint8Array;
			}
		} catch (error) {
			signal.throwIfAborted();
			throw new ConnectionError(baseUrl, error);
		}
	};

	return {
		baseUrl,
		get: (path, query) => json('GET', urlOf(path, query)),
		post: (path, body, headers) => json('POST', urlOf(path), body, headers),
		put: (path, body) => json('PUT', urlOf(path), body),
		patch: (path, body) => json('PATCH', urlOf(path), body),
		delete: (path) => json('DELETE', urlOf(path)),
		bytes: async (path, query) => {
			const response = await opened(path, query, true);
			return new Uint8Array(await response.arrayBuffer());
		},
		stream: chunksOf,
		exchange: (path, query, lines) => exchangeLines({baseUrl, url: urlOf(path, query), token, signal}, lines),
	};
};
