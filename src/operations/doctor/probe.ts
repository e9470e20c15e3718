import {fetchBounded, reasonOf} from '../../platform/http/fetch-bounded.ts';
import {parseJson} from '../../platform/http/untrusted-json.ts';

/** Result of a request: an answer with its parsed JSON (undefined if invalid), or the reason of its failure. */
export type Probe = {status: number; body: unknown} | {failure: string};

const TIMEOUT_MS = 5000;

/** Sends one request, for at most 5 s. A redirect is a failure, because it would send a key elsewhere. Never throws. */
export const probe = async (
	url: string,
	{headers = {}, post}: {headers?: Record<string, string>; post?: object} = {},
) => {
	try {
		const response = await fetchBounded(url, {
			headers: {Accept: 'application/json', 'Content-Type': 'application/json', ...headers},
			...(post === undefined ? {} : {method: 'POST', body: JSON.stringify(post)}),
			redirect: 'error',
			signal: AbortSignal.timeout(TIMEOUT_MS),
		});
		return {status: response.status, body: parseJson(await response.text())} satisfies Probe;
	} catch (error) {
		return {failure: reasonOf(error)} satisfies Probe;
	}
};

/** The status of an answer; null without one. */
export const statusOf = (answer: Probe): number | null => ('failure' in answer ? null : answer.status);

/** The finding's text for a probe that expected a 200. */
export const outcomeOf = (answer: Probe): string =>
	'failure' in answer ? `cannot be reached: ${answer.failure}` : `answers with ${answer.status}`;
