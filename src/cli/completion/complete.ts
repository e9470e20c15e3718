import type {EventEmitter} from 'node:events';
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
	options: Record<string, string | undefined>;
	/** Long names of the options before the cursor; a command may have one of a command above it, too. */
	used: ReadonlySet<string | undefined>;
	/** Arguments before the cursor, by their names. */
	args: Record<string, string>;
	/** The part of the wanted value typed so far. */
	typed: string;
	/** The prefix that the shell keeps in the same word, such as `--org=`. */
	prefix: string;
};

/** Options that a command accepts: its own and the program's. */
const optionsOf = ({parent, options}: Command, own = true): Option[] => [
	...(own || parent === null ? options.filter(({hidden}) => !hidden) : []),
	...(parent === null ? [] : optionsOf(parent, false)),
];

/** Bash splits `--org=Ab` into three words. */
const joined = (words: readonly string[]): string[] => {
	const isSeparator = (index: number) => words[index] === '=' && (words[index - 1] ?? '').startsWith('--');
	return words.flatMap((word, index) => (isSeparator(index) ? (index === words.length - 1 ? [''] : []) : [word]));
};

/** The argument at an index; the last one of a command may be variadic, and ORG is one only where it is given. */
const argumentAt = (command: Command, index: number, first: string): Argument | null => {
	const args = command.registeredArguments;
	const last = args.at(-1);
	const skipped = takesOrganization(command) && args.length > 1 && !isOrganization(first) ? 1 : 0;
	return args[index + skipped] ?? (last?.variadic ? last : null);
};

/** Stands for the word at the cursor: where commander puts it is what is completed. The second is for an option. */
const CURSOR = '\0';
const OPTION_CURSOR = `-${CURSOR}`;

type Given = {option: Option; value: string | undefined};

/** A command line as commander reads it, without a check, a parser of values, or an action. */
const parsed = (program: Command, words: readonly string[]): {command: Command; args: string[]; given: Given[]} => {
	const given: Given[] = [];
	const parse = (command: Command, rest: string[]) => {
		for (const option of command.options) {
			const event = `option:${option.name()}`;
			(command as Command & EventEmitter).removeAllListeners(event);
			command.on(event, (value?: string) => given.push({option, value}));
		}

		return command.parseOptions(rest);
	};
	let command = program;
	let {operands, unknown} = parse(program, [...words]);
	for (;;) {
		const inner = command.commands.find((one) => one.name() === operands[0]);
		if (inner === undefined) {
			return {command, args: [...operands, ...unknown.filter((word) => !word.startsWith('-'))], given};
		}

		const rest = parse(inner, unknown);
		operands = [...operands.slice(1), ...rest.operands];
		unknown = rest.unknown;
		command = inner;
	}
};

/** Parses the words after `oplink` up to the cursor; the last one is being typed. */
const positionOf = (program: Command, line: readonly string[]): Position => {
	const words = joined(line);
	const current = words.pop() ?? '';
	const isOption = current.startsWith('-') && !words.includes('--');
	const cursor = isOption ? OPTION_CURSOR : CURSOR;
	const {command, args: all, given} = parsed(program, [...words, cursor]);
	const args = all.filter((word) => word !== cursor);
	const [first = ''] = args;
	const position = {
		command,
		options: Object.fromEntries(given.map(({option, value}) => [option.attributeName(), value])),
		used: new Set(given.map(({option}) => option.long)),
		args: Object.fromEntries(args.map((word, index) => [argumentAt(command, index, first)?.name() ?? '', word])),
		takesCommands: false,
		takesOptions: isOption,
		wanted: null,
		typed: current,
		prefix: '',
	};
	const pending = given.find(({value}) => value === cursor);
	if (pending) {
		return {...position, takesOptions: false, wanted: pending.option};
	}

	const [, prefix, flag, typed = ''] = (isOption && /^((--[^=]+)=)(.*)$/s.exec(current)) || [];
	if (prefix !== undefined) {
		const wanted = optionsOf(command).find(({long}) => long === flag) ?? null;
		return {...position, takesOptions: false, wanted, typed, prefix};
	}

	return isOption
		? position
		: {
				...position,
				takesCommands: args.length === 0 && !words.includes('--'),
				wanted: argumentAt(command, args.length, first),
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
				.filter((option) => !used.has(option.long) || option.parseArg !== undefined)
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
