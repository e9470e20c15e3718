import type {Logger} from 'pino';
import {fetchBounded} from '../../../platform/http/fetch-bounded.ts';
import {parseJson} from '../../../platform/http/untrusted-json.ts';

/** Timeout of a call (contract/identity 13). */
const TIMEOUT_MS = 10_000;

export type PaymobCall = {
	method: 'GET' | 'POST';
	path: string;
	/** The Authorization header; null if the body has the credential. */
	authorization: string | null;
	body?: object;
};

/** `body` is undefined if it is not valid JSON. */
export type PaymobAnswer = {status: number; body: unknown};

/**
 * Makes one call, without retries, because Paymob has no idempotency keys. @returns null if no answer came in 10 s: the
 * outcome is then unknown. Only statuses are logged; bodies contain cards and customers.
 */
export const createPaymobHttp =
	({apiUrl, log, timeoutMs = TIMEOUT_MS}: {apiUrl: string; log: Logger; timeoutMs?: number}) =>
	async ({method, path, authorization, body}: PaymobCall): Promise<PaymobAnswer | null> => {
		try {
			const response = await fetchBounded(`${apiUrl}${path}`, {
				method,
				headers: {
					Accept: 'application/json',
					'Content-Type': 'application/json',
					...(authorization === null ? {} : {Authorization: authorization}),
				},
				...(body === undefined ? {} : {body: JSON.stringify(body)}),
				// A redirect would send the key to another host.
				redirect: 'error',
				signal: AbortSignal.timeout(timeoutMs),
			});
			const answer = {status: response.status, body: parseJson(await response.text())};
			if (!response.ok) {
				log.warn({method, path, status: answer.status}, 'Paymob refused a call');
			}

			return answer;
		} catch (error) {
			log.warn({err: error, method, path}, 'Paymob does not answer');
			return null;
		}
	};
