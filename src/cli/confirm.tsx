import {render, Text, useInput} from 'ink';
import {InterruptedError} from './cli-errors.ts';
import type {Io} from './io.ts';

type Answer = 'yes' | 'no' | 'interrupted';

/** A question that only `y` says yes to. */
export const Confirm = ({question, onAnswer}: {question: string; onAnswer: (answer: Answer) => void}) => {
	useInput((input, key) => {
		if (key.ctrl && input === 'c') {
			onAnswer('interrupted');
		} else if (input === 'y' || input === 'Y') {
			onAnswer('yes');
		} else if (input === 'n' || input === 'N' || key.return || key.escape) {
			onAnswer('no');
		}
	});
	return (
		<Text>
			{question} <Text dimColor>[y/N]</Text>
		</Text>
	);
};

/**
 * Asks on the terminal. @throws InterruptedError for Ctrl-C, which arrives as a key while ink reads keys, and as a
 * signal before.
 */
export const ask = async (io: Io, question: string): Promise<boolean> => {
	const answer = await new Promise<Answer>((resolve) => {
		const interrupt = () => finish('interrupted');
		const finish = (given: Answer) => {
			io.interruption.removeEventListener('abort', interrupt);
			screen.unmount();
			resolve(given);
		};
		io.interruption.addEventListener('abort', interrupt);
		const screen = render(<Confirm question={question} onAnswer={finish} />, {
			stdin: io.stdin as NodeJS.ReadStream,
			stdout: io.stderr as NodeJS.WriteStream,
			exitOnCtrlC: false,
			patchConsole: false,
		});
	});
	if (answer === 'interrupted') {
		throw new InterruptedError();
	}

	return answer === 'yes';
};
