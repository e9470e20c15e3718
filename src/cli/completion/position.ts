import type {Argument, Command, Option} from 'commander';
import {isOrganization, takesOrganization} from '../leading-organization.ts';

/** What the cursor is on: an argument or an option's value, else a command or an option. */
export type Position = {
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
export const optionsOf = (command: Command): Option[] => {
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
export const positionOf = (program: Command, given: readonly string[]): Position => {
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
