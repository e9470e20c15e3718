import type {Logger} from 'pino';

/** Longest that a call may take (contract/identity 13). */
const TIMEOUT_MS = 10_000;

export type PaymobCall = {
	method: 'GET' | 'POST';
	path: string;
	/** The value of the Authorization header; null where the body holds the credential. */
	authorization: string | null;
	body?: object;
};

/** An answer that came, whatever it says. `body` is undefined for what is not valid JSON. */
export type PaymobAnswer = {status: number; body: unknown};

const parse = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
};

/**
 * One call, never repeated, because the gateway knows no idempotency key. @returns the answer, or null where none came
 * in 10 s: then nobody knows whether it was done. Only statuses are logged; bodies hold cards and customers.
 */
export const createPaymobHttp =
	({apiUrl, log, timeoutMs = TIMEOUT_MS}: {apiUrl: string; log: Logger; timeoutMs?: number}) =>
	async ({method, path, authorization, body}: PaymobCall): Promise<PaymobAnswer | null> => {
		try {
			const response = await fetch(`${apiUrl}${path}`, {
				method,
				headers: {
					Accept: 'application/json',
					'Content-Type': 'application/json',
					...(authorization === null ? {} : {Authorization: authorization}),
				},
				...(body === undefined ? {} : {body: JSON.stringify(body)}),
				// A redirect would take the key elsewhere.
				redirect: 'error',
				signal: AbortSignal.timeout(timeoutMs),
			});
			const answer = {status: response.status, body: parse(await response.text())};
			if (!response.ok) {
				log.warn({method, path, status: answer.status}, 'gateway B refused a call');
			}

			return answer;
		} catch (error) {
			log.warn({err: error, method, path}, 'gateway B does not answer');
			return null;
		}
	};

export type PaymobHttp = ReturnType<typeof createPaymobHttp>;
