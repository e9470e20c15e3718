import type {OplinkApiError} from '../client/errors.ts';
import {exitCodes} from './exit-codes.ts';

/** What the operator can mend: told in one line with the next step, without a stack. */
export class OperatorError extends Error {
	override name = 'OperatorError';

	constructor(
		message: string,
		readonly exitCode: number,
		readonly nextStep: string | null = null,
	) {
		super(message);
	}
}

/** The command was written wrongly, or needs a terminal that is not there. */
export const usageError = (message: string, nextStep?: string) => new OperatorError(message, exitCodes.usage, nextStep);
/** No credential to send. */
export const missingCredential = (message: string, nextStep: string) =>
	new OperatorError(message, exitCodes.authentication, nextStep);
/** What is named does not exist, as far as we looked for it ourselves. */
export const notFoundError = (message: string, nextStep: string) =>
	new OperatorError(message, exitCodes.notFound, nextStep);
/** The operator's own file or answer cannot be used. */
export const inputError = (message: string) => new OperatorError(message, exitCodes.failed);

/** Ctrl-C. `note` says what is done so far and how to go on. */
export class InterruptedError extends Error {
	override name = 'InterruptedError';

	constructor(readonly note: string | null = null) {
		super('Interrupted');
	}
}

/** A refusal of the server with a next step that its code alone does not tell. */
export class AdvisedError extends Error {
	override name = 'AdvisedError';

	constructor(
		readonly refusal: OplinkApiError,
		readonly nextStep: string,
	) {
		super(refusal.message);
	}
}
