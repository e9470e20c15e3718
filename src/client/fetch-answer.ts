import {OplinkConnectionError, type RawAnswer} from './errors.ts';
import {after} from './timer.ts';

/** AbortSignal if the platform's types have it, so that these types depend neither on the DOM nor on Node. */
type Signal = typeof globalThis extends {AbortSignal: {prototype: infer Type}} ? Type : never;

/** The subset of fetch that the client uses. */
export type OplinkFetch = (
	url: string,
	init: {method: string; headers: Record<string, string>; body?: string; signal: Signal},
) => Promise<{status: number; headers?: {get(name: string): string | null}; text(): Promise<string>}>;

export type HttpRequest = {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** The address without path and trailing slash. */
	baseUrl: string;
	path: string;
	/** With its question mark, or empty. */
	query: string;
	headers: Record<string, string>;
	body?: string;
};

const timeoutError = (seconds: number): Error => {
	const error = new Error(`no answer within ${seconds} s`);
	error.name = 'TimeoutError';
	return error;
};

/**
 * One request with its whole answer, within the timeout. It uses a controller and a timer, because React Native lacks
 * AbortSignal.timeout, and a race, because a polyfilled fetch may ignore its signal.
 * @throws OplinkConnectionError.
 */
export const fetchAnswer = async (
	{method, baseUrl, path, query, headers, body}: HttpRequest,
	{fetch, timeoutSeconds}: {fetch: OplinkFetch | undefined; timeoutSeconds: number},
): Promise<RawAnswer> => {
	const exchange = async (signal: AbortSignal): Promise<RawAnswer> => {
		// Looked up for each request: a polyfill may be installed after the client was created.
		const send: OplinkFetch = fetch ?? globalThis.fetch;
		const init = {method, headers, signal, ...(body === undefined ? {} : {body})};
		const response = await send(`${baseUrl}${path}${query}`, init);
		const headerOf = (name: string) => response.headers?.get(name) ?? undefined;
		const [requestId, errorCode] = [headerOf('x-request-id'), headerOf('x-error-code')];
		return {status: response.status, text: await response.text(), requestId, errorCode};
	};

	let cancelTimer = () => {};
	try {
		const controller = new AbortController();
		const timeout = new Promise<never>((_, reject) => {
			cancelTimer = after(timeoutSeconds, () => {
				reject(timeoutError(timeoutSeconds));
				controller.abort();
			});
		});
		return await Promise.race([exchange(controller.signal), timeout]);
	} catch (cause) {
		throw new OplinkConnectionError({method, baseUrl, path}, cause);
	} finally {
		cancelTimer();
	}
};
