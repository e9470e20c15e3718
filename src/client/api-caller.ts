import {OplinkApiError} from './errors.ts';
import {fetchAnswer, type HttpRequest, type OplinkFetch} from './fetch-answer.ts';
import {type RetryRule, withRetries} from './retry.ts';

/** The parts of a request beyond the client's settings. */
export type ApiCall = {
	method: HttpRequest['method'];
	path: string;
	rule: RetryRule;
	/** The host of this request (default: the API host). */
	baseUrl?: string;
	query?: Record<string, string | number | boolean | undefined>;
	headers?: Record<string, string>;
	body?: unknown;
};
export type CallApi = <T>(call: ApiCall) => Promise<T>;

/** One segment of a path. Empty, `.` and `..` would address another route. @throws TypeError. */
export const segment = (value: string, name: string): string => {
	if (/^\.{0,2}$/.test(value)) {
		throw new TypeError(`${name} must not be '${value}'`);
	}

	return encodeURIComponent(value);
};

/** Character by character: a regular expression would restart at each slash, and older browsers lack look-behind. */
export const withoutEndingSlash = (url: string): string => {
	let end = url.length;
	while (url.charAt(end - 1) === '/') {
		end -= 1;
	}

	return url.slice(0, end);
};

/** A query with its question mark, or ''. Built by hand, because React Native's URLSearchParams is incomplete. */
export const queryText = (query: ApiCall['query'] = {}): string => {
	const pairs = Object.entries(query).flatMap(([name, value]) =>
		value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
	);
	return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
};

const parsedAnswer = <T>(text: string): {value: T} | null => {
	try {
		return {value: JSON.parse(text) as T};
	} catch {
		return null;
	}
};

/**
 * Sends requests to the API, each with its own retry budget.
 * @returns a function that resolves with a success's JSON. It throws OplinkApiError for any other complete answer, also
 * a success that is not valid JSON (a proxy's page), and OplinkConnectionError without one.
 */
export const createApiCaller = (settings: {
	baseUrl: string;
	fetch: OplinkFetch | undefined;
	timeoutSeconds: number;
	maxRetries: number;
	sleep: (seconds: number) => Promise<unknown>;
}): CallApi => {
	const attempt = async <T>(request: HttpRequest): Promise<T> => {
		const answer = await fetchAnswer(request, settings);
		const isSuccess = answer.status >= 200 && answer.status <= 299;
		const parsed = isSuccess ? parsedAnswer<T>(answer.text) : null;
		if (parsed === null) {
			throw new OplinkApiError(answer);
		}

		return parsed.value;
	};

	return async <T>({method, path, rule, baseUrl = settings.baseUrl, query, headers, body}: ApiCall): Promise<T> => {
		const request: HttpRequest = {
			method,
			baseUrl,
			path,
			query: queryText(query),
			headers: {
				Accept: 'application/json',
				...(body === undefined ? {} : {'Content-Type': 'application/json'}),
				...headers,
			},
			...(body === undefined ? {} : {body: JSON.stringify(body)}),
		};
		return withRetries(() => attempt<T>(request), {...settings, rule});
	};
};

/** The header of a key; none without a key, which the server answers with 401. */
export const bearer = (key: string | undefined): Record<string, string> =>
	key === undefined ? {} : {Authorization: `Bearer ${key}`};
