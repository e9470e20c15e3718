import {randomUUID} from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import {Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import {type ApiCall, createApiCaller, queryText} from '../../client/api-caller.ts';
import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import type {HttpRequest} from '../../client/fetch-answer.ts';
import {retryRules} from '../../client/retry.ts';
import {linesOf} from '../lines.ts';

/** `path` includes its query. */
type Target = {baseUrl: string; path: string; token: string; signal: AbortSignal};

/**
 * POSTs NDJSON and yields the lines of the answer while still sending. It uses node:http because fetch is half-duplex
 * by its standard: it may withhold the answer until the whole request is sent.
 * @throws OplinkApiError, OplinkConnectionError, or whatever `lines` throws.
 */
async function* exchangeLines(
	{baseUrl, path, token, signal}: Target,
	lines: AsyncIterable<string>,
): AsyncGenerator<string> {
	const {request: open} = baseUrl.startsWith('https:') ? https : http;
	const method = 'POST';
	const request = open(`${baseUrl}${path}`, {
		method,
		headers: {authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson'},
		signal,
	});
	let fault: {error: unknown} | null = null;
	const source = lines[Symbol.asyncIterator]();
	const body = async function* () {
		try {
			for (;;) {
				// Only this call can fail because of the source: a broken connection is thrown into us at the yield.
				const next = await source.next().catch((error: unknown) => {
					fault = {error};
					throw error;
				});
				if (next.done) {
					return;
				}

				yield `${next.value}\n`;
			}
		} finally {
			await source.return?.();
		}
	};
	const failure = (error: unknown): unknown => {
		signal.throwIfAborted();
		return fault ? fault.error : new OplinkConnectionError({method, baseUrl, path}, error);
	};
	const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
		request.once('response', resolve);
		request.on('error', reject);
	});
	// A server that refuses early closes the connection; its answer counts, not the broken pipe.
	const sent = pipeline(Readable.from(body()), request).catch(() => {});
	try {
		const response = await answered;
		if ((response.statusCode ?? 0) > 299) {
			const text = Buffer.concat(await response.toArray()).toString();
			const errorCode = response.headers['x-error-code']?.toString();
			throw new OplinkApiError({status: response.statusCode ?? 0, text, errorCode});
		}

		yield* linesOf(response);
		if (fault) {
			throw (fault as {error: unknown}).error;
		}
	} catch (error) {
		throw error instanceof OplinkApiError ? error : failure(error);
	} finally {
		request.destroy();
		await sent;
	}
}

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
	request: <T>(method: HttpRequest['method'], path: string, body?: unknown) => Promise<T>;
	get: <T>(path: string, query?: Query) => Promise<T>;
	/** Attempts with one key, by default those of a call, create once. */
	post: <T>(path: string, body?: unknown, idempotencyKey?: string) => Promise<T>;
	put: <T>(path: string, body: unknown) => Promise<T>;
	patch: <T>(path: string, body: unknown) => Promise<T>;
	delete: <T>(path: string) => Promise<T>;
	/** An image or another body that is not JSON. */
	bytes: (path: string, query?: Query) => Promise<Uint8Array>;
	/** A streamed body, chunk by chunk. @property onHeaders gets the headers of the answer. */
	stream: (path: string, query?: Query, more?: Streaming) => AsyncIterable<Uint8Array>;
	/** Sends and reads lines concurrently, with backpressure in both directions. */
	exchange: (path: string, query: Query, lines: AsyncIterable<string>) => AsyncIterable<string>;
};

/** Headers of a streamed request, and the reader of the headers of its answer. */
type Streaming = {headers?: Record<string, string>; onHeaders?: (headers: Headers) => void};

/** The answer, or null for one of these statuses. */
export const nullOn = <T>(answer: Promise<T>, ...statuses: number[]): Promise<T | null> =>
	answer.catch((error: unknown) => {
		if (error instanceof OplinkApiError && statuses.includes(error.status)) {
			return null;
		}

		throw error;
	});

type ClientOptions = {
	baseUrl: string;
	token: string;
	/** Aborts all requests. */
	signal: AbortSignal;
	/** By default none: the operator repeats a failed command, and a retry could do it twice. */
	maxRetries?: number;
	sleep?: (seconds: number) => Promise<void>;
};

/** A request without an answer ends after this; a stream does not. */
const TIMEOUT_SECONDS = 60;

export const createClient = ({
	baseUrl,
	token,
	signal,
	maxRetries = 0,
	sleep = async () => {},
}: ClientOptions): ApiClient => {
	const headers = {Authorization: `Bearer ${token}`};
	const call = createApiCaller({
		baseUrl,
		fetch: (url, init) => fetch(url, {...init, signal: AbortSignal.any([signal, init.signal])}),
		timeoutSeconds: TIMEOUT_SECONDS,
		maxRetries,
		sleep,
	});
	const json = <T>(method: HttpRequest['method'], path: string, more: Partial<ApiCall> = {}) =>
		call<T>({method, path, rule: retryRules.resolution, ...more, headers: {...headers, ...more.headers}});

	const chunksOf = async function* (
		path: string,
		query: Query = {},
		{ends = signal, headers: more = {}, onHeaders}: Streaming & {ends?: AbortSignal} = {},
	): AsyncGenerator<Uint8Array> {
		try {
			const response = await fetch(`${baseUrl}${path}${queryText(query)}`, {
				headers: {...headers, ...more},
				signal: ends,
			});
			if (!response.ok) {
				const errorCode = response.headers.get('x-error-code') ?? undefined;
				throw new OplinkApiError({status: response.status, text: await response.text(), errorCode});
			}

			onHeaders?.(response.headers);
			for await (const chunk of response.body ?? []) {
				yield chunk as Uint8Array;
			}
		} catch (error) {
			throw error instanceof OplinkApiError ? error : new OplinkConnectionError({method: 'GET', baseUrl, path}, error);
		}
	};

	return {
		baseUrl,
		request: (method, path, body) => json(method, path, {body}),
		get: (path, query = {}) => json('GET', path, {query}),
		post: (path, body, idempotencyKey = maxRetries > 0 ? randomUUID() : undefined) =>
			json('POST', path, {body, ...(idempotencyKey && {headers: {'Idempotency-Key': idempotencyKey}})}),
		put: (path, body) => json('PUT', path, {body}),
		patch: (path, body) => json('PATCH', path, {body}),
		delete: (path) => json('DELETE', path),
		bytes: (path, query) => {
			const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_SECONDS * 1000)]);
			return buffer(chunksOf(path, query, {ends}));
		},
		stream: chunksOf,
		exchange: (path, query, lines) =>
			exchangeLines({baseUrl, path: `${path}${queryText(query)}`, token, signal}, lines),
	};
};
