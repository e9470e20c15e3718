import {type Command, Option} from 'commander';
import {createContext} from '../command.ts';
import {type Io, write} from '../terminal/io.ts';
import {cellText} from '../terminal/output.ts';
import {safeLine} from '../terminal/printable.ts';
import {type Candidate, fileNames, sources} from './live-values.ts';
import {optionsOf, type Position, positionOf} from './position.ts';

/** Longest that a question to the server may keep somebody who pressed Tab. */
const PATIENCE_SECONDS = 0.8;

/** What the scripts take for 'the names of files belong here'. */
const FILES = ':files';

const wordsOf = (command: Command): string[] => (command.parent ? [...wordsOf(command.parent), command.name()] : []);

const nameOf = (wanted: NonNullable<Position['wanted']>): string =>
	wanted instanceof Option ? wanted.attributeName() : wanted.name();

const commandsAt = ({command, takesCommands}: Position): Candidate[] => {
	if (!takesCommands) {
		return [];
	}

	// `help` takes the words of another command.
	const isHelp = wordsOf(command).join(' ') === 'help';
	const inner = isHelp ? (command.parent?.commands ?? []) : command.commands;
	return inner.map((one) => ({value: one.name(), description: one.description()}));
};

const optionsAt = ({command, takesOptions, used}: Position): Candidate[] =>
	takesOptions
		? optionsOf(command)
				// What has a parser may gather several values.
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
 * Whether a value can be a word of a command line. Values are tenants' texts: one with a control character could pass for
 * other lines of the answer, and one with a hyphen before it for an option. Shells quote what else means something to them.
 */
const isWord = ({value}: Candidate): boolean => value !== '' && safeLine(value) === value && !/^[-:]/.test(value);

/**
 * `oplink __complete WORD…`, which the shells' scripts call: prints what may stand for the last word, a line each, the
 * value and after a tab what it is, and `:files` where names of files belong too. Asks the server for ids, for less than a second. What goes wrong is
 * kept quiet, because there is a half-written command on the screen.
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
