import {Argument, type Command, Help} from 'commander';
import {usageError} from './cli-errors.ts';

/** The first argument of a command that takes ORG there or by `--org` (contract/operations 13); the second is required. */
const LEADING = new Set(['[org]', '<org>']);
const isLeading = (word: string | undefined): word is string => word !== undefined && LEADING.has(word);

/** An id or an orgKey; a domain has a dot. */
export const isOrganization = (word: string): boolean => /^(?:[0-9A-Za-z]{4}|[0-9a-f-]{36})$/i.test(word);

/**
 * Declares a command by its usage, such as `regenerate [org] <tier>`. ORG may be left out, so commander cannot decide
 * which word is which: the arguments after it are optional for it, and `argumentsOf` requires them.
 */
export const declareCommand = (parent: Command, usage: string): Command => {
	const [name = '', first, ...rest] = usage.split(' ');
	if (!isLeading(first)) {
		return parent.command(usage);
	}

	const command = parent
		.command(name)
		.argument('[org]')
		.usage(['[options]', first, ...rest].join(' '));
	for (const argument of rest) {
		command.addArgument(new Argument(argument).argOptional());
	}

	return command;
};

/**
 * The arguments of a call, and the organization that is named first. Of the words that are enough without it, an
 * optional one is an argument unless it is an id or an orgKey.
 * @throws OperatorError (usage) if an argument is missing, or ORG is given twice.
 */
export const argumentsOf = (
	usage: string,
	{processedArgs, args}: Pick<Command, 'processedArgs' | 'args'>,
	option: string | undefined,
): {args: unknown[]; org: string | undefined} => {
	const [, first, ...rest] = usage.split(' ');
	if (!isLeading(first)) {
		return {args: processedArgs, org: option};
	}

	const required = rest.filter((argument) => argument.startsWith('<'));
	const [word = ''] = args;
	const isNamed = args.length > rest.length || (args.length > required.length && isOrganization(word));
	if (isNamed && option !== undefined) {
		throw usageError('ORG is given twice', 'Give it as the first argument or by --org');
	}

	const others = isNamed ? args.slice(1) : args;
	if (others.length < required.length) {
		throw usageError(`Missing argument: ${required[others.length]}`, 'add --help to see the usage');
	}

	const org = isNamed ? word : option;
	if (first === '<org>') {
		if (!org) {
			throw usageError(`Missing argument: ${first}`, 'add --help to see the usage');
		}

		return {args: [org], org};
	}

	return {args: rest.map((_, index) => others[index]), org};
};

/** Whether a command takes ORG before its other arguments. */
const takesOrganization = ({registeredArguments: [first]}: Command): boolean =>
	first?.name() === 'org' && !first.required && !first.variadic;

/** A command in the list of its group. */
export const termOf = (command: Command): string =>
	takesOrganization(command) ? `${command.name()} ${command.usage()}` : new Help().subcommandTerm(command);
