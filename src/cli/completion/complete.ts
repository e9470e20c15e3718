import {type Command, Option} from 'commander';
import {createContext} from '../command.ts';
import {type Io, write} from '../terminal/io.ts';
import {cellText} from '../terminal/output.ts';
import {safeLine} from '../terminal/printable.ts';
import {type Candidate, fileNames, sources} from './live-values.ts';
import {optionsOf, type Position, positionOf} from './position.ts';

/** Longest that a request may delay the answer to Tab. */
const PATIENCE_SECONDS = 0.8;

/** The scripts' marker for file names. */
const FILES = ':files';

const wordsOf = (command: Command): string[] => (command.parent ? [...wordsOf(command.parent), command.name()] : []);

const nameOf = (wanted: NonNullable<Position['wanted']>): string =>
	wanted instanceof Option ? wanted.attributeName() : wanted.name();

const commandsAt = ({command, takesCommands}: Position): Candidate[] => {
	if (!takesCommands) {
		return [];
	}

	// `help` completes the words of another command.
	const isHelp = wordsOf(command).join(' ') === 'help';
	const inner = isHelp ? (command.parent?.commands ?? []) : command.commands;
	return inner.map((one) => ({value: one.name(), description: one.description()}));
};

const optionsAt = ({command, takesOptions, used}: Position): Candidate[] =>
	takesOptions
		? optionsOf(command)
				// Only options with a parser may collect several values.
				.filter((option) => !used.has(option) || option.parseArg !== undefined)
				.map(({long, short, description}) => ({value: long ?? short ?? '', description}))
		: [];

const valuesAt = async ({command, wanted, options, args}: Position, io: Io): Promise<Candidate[]> => {
	if (wanted === null) {
		return [];
	}

	const choices = wanted.argChoices ?? null;
	if (choices !== null) {
		return choices.map((value) => ({value}));
	}

	const name = nameOf(wanted);
	const source = sources[`${wordsOf(command)[0]} ${name}`] ?? sources[name];
	return source === undefined ? [] : source({context: createContext(io, options), args});
};

/**
 * Whether a value is safe as a word of a command line. Values are tenants' texts: one with a control character could
 * fake other lines of the answer, and one with a leading hyphen an option. Shells quote other special characters.
 */
const isWord = ({value}: Candidate): boolean => value !== '' && safeLine(value) === value && !/^[-:]/.test(value);

/**
 * `oplink __complete WORD…`, called by the shells' scripts. Prints the candidates for the last word, one per line: the
 * value, a tab and its description, and `:files` if file names fit too. Requests ids from the server, for less than a
 * second. Errors are silent, because a half-written command is on the screen.
 */
export const complete = async (program: Command, words: readonly string[], io: Io): Promise<void> => {
	const position = positionOf(program, words);
	const {wanted, typed, prefix} = position;
	const interruption = AbortSignal.any([io.interruption, io.deadline(PATIENCE_SECONDS)]);
	const live = (await valuesAt(position, {...io, interruption}).catch((): Candidate[] => [])).filter(isWord);
	const all = [...commandsAt(position), ...optionsAt(position), ...live];
	const candidates = [...new Map(all.map((candidate) => [candidate.value, candidate])).values()];
	const lines = candidates
		.filter(({value}) => value.startsWith(typed))
		.map(({value, description}) => `${prefix}${value}${description ? `\t${cellText(description)}` : ''}\n`);
	const isFile = wanted !== null && fileNames.has(nameOf(wanted));
	await write(io.stdout, lines.join('') + (isFile ? `${FILES}\n` : ''));
};
