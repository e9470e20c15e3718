import {inputError, usageError} from './cli-errors.ts';
import type {Context} from './command.ts';
import {nameOf} from './server/chosen-server.ts';
import {writeMessage} from './terminal/io.ts';
import {canAsk, openPrompts} from './terminal/prompts.ts';

/** Requires `--yes` off a terminal, where nobody can be asked. @throws OperatorError. */
export const requireAnswerer = ({io, options}: Pick<Context, 'io' | 'options'>): void => {
	if (!options.yes && !canAsk(io)) {
		throw usageError(
			'This needs confirmation, and there is no terminal to prompt on',
			'Add --yes to skip the confirmation',
		);
	}
};

/**
 * Lets a destructive command continue if `--yes` was given or the operator confirms with `y` or `yes`. If a server is
 * to do it, the question names the server.
 * @param question describes what will be deleted, or reads it from the server, which happens only at a prompt.
 * @throws OperatorError without a terminal, or if the answer is no; InterruptedError for Ctrl-C.
 */
export const requireConsent = async (
	context: Pick<Context, 'io' | 'options'> & Partial<Pick<Context, 'connection'>>,
	question: string | (() => Promise<string>),
): Promise<void> => {
	if (context.options.yes) {
		return;
	}

	requireAnswerer(context);
	const text = typeof question === 'string' ? question : await question();
	if (context.connection !== undefined) {
		await writeMessage(context.io, `On ${nameOf(context.connection.server())}:`);
	}

	const prompts = openPrompts(context.io);
	try {
		if (!/^y(?:es)?$/i.test(await prompts.ask(`${text} [y/N] `))) {
			throw inputError('Nothing was changed');
		}
	} finally {
		prompts.close();
	}
};
