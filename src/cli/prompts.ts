import {createInterface} from 'node:readline';
import {Writable} from 'node:stream';
import {InterruptedError, inputError, usageError} from './cli-errors.ts';
import type {Context} from './command.ts';
import {nameOf} from './server/connection.ts';
import {type Io, writeMessage} from './terminal/io.ts';
import {messageText} from './terminal/wrapped.ts';

/** Prompts on the terminal, one at a time. Typed-ahead input waits, unseen, for its prompt. */
type Prompts = {
	/**
	 * Asks for one line.
	 * @param hidden disables echo. @returns the trimmed line. @throws InterruptedError for Ctrl-C; OperatorError at the
	 * end of the input.
	 */
	ask: (question: string, options?: {hidden?: boolean}) => Promise<string>;
	close: () => void;
};

/** Whether somebody can be asked: prompts go to stderr, so that stdout can be redirected. */
export const canAsk = ({stdin, stderr}: Io): boolean => stdin.isTTY === true && stderr.isTTY === true;

/** Takes over the terminal until `close`; only if `canAsk`. */
export const openPrompts = ({stdin, stderr, interruption}: Io): Prompts => {
	let isShown = false;
	const screen = new Writable({
		write: (chunk: Buffer, _encoding, done) => {
			if (isShown) {
				stderr.write(chunk);
			}

			done();
		},
	});
	const reader = createInterface({
		input: stdin,
		output: Object.assign(screen, {columns: stderr.columns}),
		terminal: true,
		historySize: 0,
	});
	const lines: string[] = [];
	let failure: Error | null = null;
	let wake = (): void => {};
	const fail = (error: Error) => {
		failure ??= error;
		wake();
	};
	const interrupt = () => fail(new InterruptedError());
	reader.on('line', (line) => {
		isShown = false;
		lines.push(line);
		wake();
	});
	// Ctrl-C is a key while lines are read; a signal from elsewhere comes by `interruption`.
	reader.on('SIGINT', interrupt);
	interruption.addEventListener('abort', interrupt);
	reader.on('close', () => fail(inputError('Nothing was entered')));

	return {
		ask: async (asked, {hidden = false} = {}) => {
			// The question may quote a tenant's text.
			const question = `${messageText(asked.trimEnd(), stderr)} `;
			const isTypedAhead = lines.length > 0;
			if (hidden || isTypedAhead) {
				stderr.write(question);
			} else {
				isShown = true;
				reader.setPrompt(question);
				reader.prompt();
			}

			while (lines.length === 0 && failure === null && !interruption.aborted) {
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}

			isShown = false;
			const line = lines.shift();
			if (line === undefined) {
				stderr.write('\n');
				throw failure ?? new InterruptedError();
			}

			if (hidden || isTypedAhead) {
				stderr.write('\n');
			}

			return line.trim();
		},
		close: () => {
			interruption.removeEventListener('abort', interrupt);
			reader.close();
		},
	};
};

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
