import {HttpError} from '../../platform/errors.ts';

/** Whether a failed call may have been executed at the provider: 502, and not a refusal. */
export const isUnanswered = (error: unknown): boolean => error instanceof HttpError && error.status === 502;

/** Runs a call and undoes it if it fails. @throws the call's error. */
export const undoIfFailed = <T>(call: Promise<T>, undo: () => Promise<void>): Promise<T> =>
	call.catch(async (error: unknown) => {
		await undo();
		throw error;
	});

/** Runs a call and undoes it if its outcome is unknown. @throws the call's error. */
export const undoIfUnanswered = <T>(call: Promise<T>, undo: () => Promise<void>): Promise<T> =>
	call.catch((error: unknown) => (isUnanswered(error) ? undoIfFailed(call, undo) : call));

/**
 * Runs a deletion at the provider, which cannot be undone. If its outcome is unknown, it reads the record to find out.
 * @throws the call's error if the record still exists or cannot be read.
 */
export const confirmDeletion = (call: Promise<void>, isGone: () => Promise<boolean>): Promise<void> =>
	call.catch(async (error: unknown) => {
		const isDone = isUnanswered(error) && (await isGone().catch(() => false));
		if (!isDone) {
			throw error;
		}
	});
