/** Exit codes of every command (contract/operations 15); 78 is EX_CONFIG of sysexits.h, 130 the shells' code for SIGINT. */
export const exitCodes = {
	ok: 0,
	failed: 1,
	usage: 2,
	authentication: 3,
	notFound: 4,
	conflict: 5,
	plan: 6,
	unreachable: 7,
	configuration: 78,
	interrupted: 130,
} as const;

/** A fault that the operator can fix: one line with the next step, without a stack. */
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

/** A usage error, or a command that needs a terminal and has none. */
export const usageError = (message: string, nextStep?: string) => new OperatorError(message, exitCodes.usage, nextStep);
/** No credential to send. */
export const missingCredential = (message: string, nextStep: string) =>
	new OperatorError(message, exitCodes.authentication, nextStep);
/** A named thing that does not exist, found out by the program itself. */
export const notFoundError = (message: string, nextStep: string) =>
	new OperatorError(message, exitCodes.notFound, nextStep);
/** The operator's file or answer is invalid. */
export const inputError = (message: string, next?: string) => new OperatorError(message, exitCodes.failed, next);

/** The command was interrupted by Ctrl-C. `note` reports the progress and how to continue. */
export class InterruptedError extends Error {
	override name = 'InterruptedError';

	constructor(readonly note: string | null = null) {
		super('Interrupted');
	}
}
