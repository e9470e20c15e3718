import {type Argument, type Command, Option} from 'commander';
import {createContext} from '../command.ts';
import {isOrganization, takesOrganization} from '../leading-organization.ts';
import {type Io, write} from '../terminal/io.ts';
import {cellText} from '../terminal/output.ts';
import {safeLine} from '../terminal/printable.ts';
import {type Candidate, fileNames, sources} from './live-values.ts';

/** What the cursor is on: an argument or an option's value, else a command or an option. */
type Position = {
	command: Command;
	/** Commands may follow. */
	takesCommands: boolean;
	/** Options may follow, because a hyphen is typed. */
	takesOptions: boolean;
	wanted: Option | Argument | null;
	/** Values of options before the cursor, by commander's names. */
	options: Record<string, string>;
	/** Options before the cursor, with a value or without. */
	used: ReadonlySet<Option>;
	/** Arguments before the cursor, by their names. */
	args: Record<string, string>;
	/** The part of the wanted value typed so far. */
	typed: string;
	/** The prefix that the shell keeps in the same word, such as `--org=`. */
	prefix: string;
};

const programOf = (command: Command): Command => (command.parent === null ? command : programOf(command.parent));

/** Options that a command accepts: its own and the program's. */
const optionsOf = (command: Command): Option[] => {
	const program = programOf(command);
	return [...(command === program ? [] : command.options), ...program.options].filter(({hidden}) => !hidden);
};

const optionNamed = (command: Command, flag: string): Option | null =>
	optionsOf(command).find(({short, long}) => flag === short || flag === long) ?? null;

/** Bash splits `--org=Ab` into three words. */
const joined = (words: readonly string[]): string[] => {
	const kept: string[] = [];
	for (const [index, word] of words.entries()) {
		const isSeparator = word === '=' && (words[index - 1] ?? '').startsWith('--');
		if (!isSeparator) {
			kept.push(word);
		} else if (index === words.length - 1) {
			kept.push('');
		}
	}

	return kept;
};

/** The argument at an index; the last one of a command may be variadic, and ORG is one only where it is given. */
const argumentAt = (command: Command, index: number, first: string | undefined): Argument | null => {
	const args = command.registeredArguments;
	const last = args.at(-1);
	const skipped = takesOrganization(command) && args.length > 1 && !isOrganization(first ?? '') ? 1 : 0;
	return args[index + skipped] ?? (last?.variadic ? last : null);
};

/** Parses the words after `oplink` up to the cursor; the last one is being typed. */
const positionOf = (program: Command, given: readonly string[]): Position => {
	const words = joined(given);
	const current = words.pop() ?? '';
	const options: Record<string, string> = {};
	const args: Record<string, string> = {};
	const used = new Set<Option>();
	let command = program;
	let pending: Option | null = null;
	let count = 0;
	let first: string | undefined;
	let isPlain = false;
	for (const word of words) {
		if (pending !== null) {
			options[pending.attributeName()] = word;
			pending = null;
		} else if (!isPlain && word === '--') {
			isPlain = true;
		} else if (!isPlain && word.startsWith('-')) {
			const [flag = '', ...value] = word.split('=');
			const option = optionNamed(command, flag);
			if (option) {
				used.add(option);
			}

			if (option && value.length > 0) {
				options[option.attributeName()] = value.join('=');
			} else {
				pending = option?.required ? option : null;
			}
		} else {
			const inner: Command | undefined = count === 0 ? command.commands.find((one) => one.name() === word) : undefined;
			if (inner) {
				command = inner;
			} else {
				first ??= word;
				args[argumentAt(command, count, first)?.name() ?? ''] = word;
				count += 1;
			}
		}
	}

	const position = {command, options, used, args, takesCommands: false, takesOptions: false, wanted: null, prefix: ''};
	if (pending !== null) {
		return {...position, wanted: pending, typed: current};
	}

	const [, prefix, flag = '', typed = ''] = /^((--[^=]+)=)(.*)$/s.exec(current) ?? [];
	if (!isPlain && prefix !== undefined) {
		return {...position, wanted: optionNamed(command, flag), typed, prefix};
	}

	const takesOptions = !isPlain && current.startsWith('-');
	return {
		...position,
		takesOptions,
		takesCommands: !takesOptions && !isPlain && count === 0,
		wanted: takesOptions ? null : argumentAt(command, count, first),
		typed: current,
	};
};

/** Longest that a request may delay the answer to Tab. */
const PATIENCE_SECONDS = 0.8;

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
