import type {Account} from './account.ts';
import {reusedKey, StripeError} from './stripe-errors.ts';

const KEPT_SECONDS = 24 * 3600;

/** An answer as it is kept: what was done, or how it was refused. */
export type Outcome = {status: number; json: unknown};
type Kept = {request: string; outcome: Outcome; at: number; requestId: string};

/** What refuses before anything is done is not kept; a declined card and what was done are. */
export const isKept = (error: unknown): boolean => error instanceof StripeError && error.status === 402;

/** Remembers answers for a day. */
export const createIdempotencyKeys = (account: Account) => {
	const answers = new Map<string, Kept>();
	return {
		/**
		 * The kept answer of this key, null where the request is to be executed.
		 * @param request all that has to be the same again.
		 * @throws where the key was used for something else.
		 */
		replay: (key: string, request: string): Kept | null => {
			const kept = answers.get(key);
			if (kept === undefined || account.now() - kept.at >= KEPT_SECONDS) {
				return null;
			}

			if (kept.request !== request) {
				throw reusedKey(key);
			}

			return kept;
		},
		keep: (key: string, request: string, requestId: string, outcome: Outcome): void => {
			answers.set(key, {request, outcome, requestId, at: account.now()});
		},
	};
};
