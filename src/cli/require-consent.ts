import {inputError, usageError} from './cli-errors.ts';
import type {Io} from './io.ts';

/**
 * Lets a destructive command go on where `--yes` was given or the operator says yes.
 * @throws OperatorError off a terminal, or where the answer is no.
 */
export const requireConsent = async (io: Io, yes: boolean | undefined, question: string): Promise<void> => {
	if (yes) {
		return;
	}

	if (!io.stdin.isTTY || !io.stderr.isTTY) {
		throw usageError(
			'This cannot be undone, and there is no terminal to ask on',
			'Add --yes to do it without a question',
		);
	}

	const {ask} = await import('./confirm.tsx');
	if (!(await ask(io, question))) {
		throw inputError('Nothing was changed');
	}
};
