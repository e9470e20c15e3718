import {OplinkConnectionError, type RawAnswer} from './errors.ts';
import {after} from './timer.ts';

/** AbortSignal where the platform's types have one, so that these types need neither those of the DOM nor of Node. */
type Signal = typeof globalThis extends {AbortSignal: {prototype: infer Type}} ? Type : never;

/** As much of fetch as the client uses; the platform's own fits. */
export type OplinkFetch = (
	url: string,
	init: {method: string; headers: Record<string, string>; body?: string; signal: Signal},
) => Promise<{status: number; headers?: {get(name: string): string | null}; text(): Promise<string>}>;

export type HttpRequest = {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** The address without path, and without a slash at its end. */
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
 * One request, its whole answer read within the time.
 * A controller and a timer instead of AbortSignal.timeout, which React Native lacks, and a race beside them, because a
 * polyfilled fetch may ignore its signal.
 * @throws OplinkConnectionError.
 */
export const fetchAnswer = async (
	{method, baseUrl, path, query, headers, body}: HttpRequest,
	{fetch, timeoutSeconds}: {fetch: OplinkFetch | undefined; timeoutSeconds: number},
): Promise<RawAnswer> => {
	const exchange = async (signal: AbortSignal): Promise<RawAnswer> => {
		// Looked up for each request: a polyfill may come after the client was made.
		const send: OplinkFetch = fetch ?? globalThis.fetch;
		const init = {method, headers, signal, ...(body === undefined ? {} : {body})};
		const response = await send(`${baseUrl}${path}${query}`, init);
		const requestId = response.headers?.get('x-request-id') ?? undefined;
		return {status: response.status, text: await response.text(), requestId};
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
