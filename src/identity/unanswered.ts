import {HttpError} from '../errors.ts';

/** Whether a call to the provider failed in a way that leaves open whether it was done: 502, and not a refusal. */
export const isUnanswered = (error: unknown): boolean => error instanceof HttpError && error.status === 502;

/** A call that is undone where it was not answered, so that nothing is half done. @throws what the call threw. */
export const undoIfUnanswered = <T>(call: Promise<T>, undo: () => Promise<void>): Promise<T> =>
	call.catch(async (error: unknown) => {
		if (isUnanswered(error)) {
			await undo();
		}

		throw error;
	});

/**
 * A call that takes something away at the provider, which cannot be taken back: where it was not answered, what is
 * there decides whether it was done. @throws what the call threw, where it is still there or nobody can tell.
 */
export const takeAway = (call: Promise<void>, isGone: () => Promise<boolean>): Promise<void> =>
	call.catch(async (error: unknown) => {
		const isDone = isUnanswered(error) && (await isGone().catch(() => false));
		if (!isDone) {
			throw error;
		}
	});
