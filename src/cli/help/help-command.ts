import type {Command} from 'commander';
import {usageError} from '../cli-errors.ts';
import {type Io, write} from '../terminal/io.ts';
import {topics} from './topics.ts';

const WIDTH = 80;
const PROMPT = '  $ ';
const CONTINUED = ' \\';
const INDENT = '      ';

/** An example as help shows it. Lines longer than 80 columns are continued before an option, in shell syntax. */
export const exampleLines = (example: string): string => {
	const lines: string[] = [];
	for (const part of example.split(/ (?=--|\| )/)) {
		const last = lines.at(-1);
		const longer = last === undefined ? PROMPT + part : `${last} ${part}`;
		if (last === undefined || longer.length + CONTINUED.length <= WIDTH) {
			lines[Math.max(0, lines.length - 1)] = longer;
		} else {
			lines.push(INDENT + part);
		}
	}

	return lines.join(`${CONTINUED}\n`);
};

/** The end of the program's help. */
export const topicsText = `
Help topics:
${topics.map(({name, summary}) => `  help ${name.padEnd(12)} ${summary}`).join('\n')}`;

/** The deepest command that the words name. */
const called = (command: Command, [word, ...rest]: string[]): Command | null => {
	if (word === undefined) {
		return command;
	}

	const inner = command.commands.find((one) => one.name() === word);
	return inner === undefined ? null : called(inner, rest);
};

/** Adds `help`, which also accepts topics and nested commands. */
export const addHelpCommand = (program: Command, io: Io): void => {
	program
		.helpCommand(false)
		.command('help [words...]')
		.description('Show the help of a command or of a topic')
		.addHelpText('after', '\nExamples:\n  $ oplink help orgs create\n  $ oplink help environment')
		.action(async (words: string[]) => {
			const topic = topics.find(({name}) => name === words[0] && words.length === 1);
			if (topic) {
				await write(io.stdout, `${topic.text}\n`);
				return;
			}

			const command = called(program, words);
			if (command === null) {
				throw usageError(`There is no command or topic '${words.join(' ')}'`, 'oplink help shows them');
			}

			command.outputHelp();
		});
};
