import type {Option} from 'commander';
import type {AnyCommand, CommandGroup} from '../../src/cli/command.ts';
import {topics} from '../../src/cli/help/topics.ts';
import {commands, createProgram} from '../../src/cli/program.ts';
import {processIo} from '../../src/cli/terminal/io.ts';
import {wrapped} from '../../src/cli/terminal/wrapped.ts';

const WIDTH = 120;
const NOTE = '<!-- Written by `npm run docs:cli` from the program itself. -->';

const isGroup = (entry: AnyCommand | CommandGroup): entry is CommandGroup => 'commands' in entry;
const wordOf = ({usage}: AnyCommand): string => usage.split(' ')[0] ?? '';
const nameOf = (entry: AnyCommand | CommandGroup): string => (isGroup(entry) ? entry.name : wordOf(entry));

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

const optionLine = ({flags, description, mandatory, argChoices, defaultValue, hidden}: Option): string[] => {
	if (hidden) {
		return [];
	}

	const facts = [
		...(mandatory ? ['required'] : []),
		...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
		...(typeof defaultValue === 'string' || typeof defaultValue === 'number' ? [`default ${defaultValue}`] : []),
	];
	const text = `\`${flags}\`: ${description}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`;
	return [`- ${wrapped(text, WIDTH - 2).join('\n  ')}`];
};

const optionList = (options: readonly Option[]): string => options.flatMap(optionLine).join('\n');

/** A command and those below it; `above` is what calls them, such as `oplink orgs`. */
const commandSections = (spec: AnyCommand, above: string, level: '#' | '##'): string[] => {
	const {usage, summary, examples, options = [], subcommands = []} = spec;
	const name = `${above} ${wordOf(spec)}`;
	return [
		`${level} ${name}`,
		`${summary}.`,
		fenced('console', `${above} ${usage}${options.length === 0 ? '' : ' [options]'}`),
		...(options.length === 0 ? [] : [optionList(options)]),
		examples.length === 1 ? 'Example:' : 'Examples:',
		fenced('console', examples.map((example) => `$ ${above} ${example}`).join('\n')),
		...subcommands.flatMap((inner) => commandSections(inner, name, '##')),
	];
};

const page = (sections: readonly string[]): string => `${[NOTE, ...sections].join('\n\n')}\n`;

const entryPage = (entry: AnyCommand | CommandGroup): string =>
	isGroup(entry)
		? page([
				`# oplink ${entry.name}`,
				`${entry.summary}.`,
				...entry.commands.flatMap((spec) => commandSections(spec, `oplink ${entry.name}`, '##')),
			])
		: page(commandSections(entry, 'oplink', '#'));

const listed = (word: string, summary: string): string =>
	`- ${wrapped(`[\`${word}\`](${word}.md): ${summary}`, WIDTH - 2).join('\n  ')}`;

const indexPage = (): string => {
	const program = createProgram(processIo(new AbortController().signal));
	return page([
		'# The command line',
		`${program.description().split('\n\n').slice(1).join('\n\n')}`,
		'## Commands',
		commands.map((entry) => listed(nameOf(entry), entry.summary)).join('\n'),
		'`oplink help COMMAND`, or `--help` after a command, shows what it takes.',
		'## Options of every command',
		optionList(program.options),
		'## Topics',
		topics.map(({name, summary}) => listed(name, summary)).join('\n'),
	]);
};

/** Every page of docs/cli by its file name: an index, a page per command or group of commands, a page per topic. */
export const cliPages = (): Map<string, string> =>
	new Map([
		['README.md', indexPage()],
		...commands.map((entry): [string, string] => [`${nameOf(entry)}.md`, entryPage(entry)]),
		...topics.map(({name, summary, text}): [string, string] => [
			`${name}.md`,
			page([`# ${name}`, `The text of \`oplink help ${name}\`: ${summary}.`, fenced('text', text)]),
		]),
	]);
