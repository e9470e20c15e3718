import type {Command} from 'commander';
import {allScopes, presets} from '../platform/config/operator-scopes.ts';
import {configTable, secretNames} from '../platform/config/variables.ts';
import {exitCodes, usageError} from './cli-errors.ts';
import {type Io, write} from './terminal/io.ts';
import {keyValues} from './terminal/output.ts';
import {wrapped} from './terminal/wrapped.ts';

const WIDTH = 80;
const INDENT = 2;

/** Variables that the program itself reads. */
const ownVariables: Array<[string, string]> = [
	['OPLINK_URL', 'address of the server, like --url'],
	['OPLINK_ADMIN_TOKEN', 'admin token, like --token but not visible in the process list'],
	['OPLINK_PROFILE', 'profile to use, like --profile'],
	['OPLINK_ORG', 'organization of commands that name none, like oplink orgs use'],
	['OPLINK_API_KEY', 'SERVER key for links and qr, like --api-key'],
	['XDG_CONFIG_HOME', 'folder of oplink/profiles.json, which login writes (default: ~/.config)'],
	['NO_COLOR', 'any value: no colour or animation, even on a terminal'],
];

/** A meaning, and the default if there is one. */
const inWords = (meaning: string, fallback: unknown): string =>
	String(fallback ?? '') === '' ? meaning : `${meaning} (${fallback})`;

const indented = (lines: string[]): string => lines.map((line) => ' '.repeat(INDENT) + line).join('\n');
const listText = (pairs: Array<[string, string]>): string => indented(keyValues(pairs, WIDTH - INDENT).split('\n'));

export const environmentTopic = `The program reads:

${listText(ownVariables)}

Server and token come from the first of these that is set:

  1. --url and --token; or --profile
  2. OPLINK_URL and OPLINK_ADMIN_TOKEN; or OPLINK_PROFILE
  3. the server that runs in this folder or with this DATA_DIR: the address that
     it left in DATA_DIR, with the token beside it, and no other credential
  4. the profile in use (oplink login, oplink profiles use)
  5. the server of this machine: PUBLIC_URL, or localhost and PORT, with
     ADMIN_TOKEN, or the token that it keeps in DATA_DIR

With both 3 and 4, a line on standard error names the server that is used. The
token of a profile is sent only to the URL of that profile.

The server (serve, migrate, config; doctor if no server answers) reads:

${listText(configTable.map(({name, meaning, fallback, fallbackInWords}) => [name, inWords(meaning, fallbackInWords ?? fallback)]))}

A secret may be in a file instead, whose name is in NAME_FILE, or in systemd's
$CREDENTIALS_DIRECTORY/NAME. The secrets are OPLINK_ADMIN_TOKEN and
OPLINK_API_KEY above, and here:

${indented(wrapped(secretNames.join(' '), WIDTH - INDENT))}

'oplink config' shows the values that a server would read from this environment,
and any errors. A running server keeps the values it started with.`;

const meanings: Record<keyof typeof exitCodes, string> = {
	ok: 'success',
	failed: 'failure: server refusal, partial import, or faults found by a check',
	usage: 'invalid command line, or a terminal is required',
	authentication: 'token or key missing or rejected',
	notFound: 'organization, link, domain or profile not found',
	conflict: 'already taken or in use',
	plan: 'not included in the plan, or quota used up',
	unreachable: 'server unreachable',
	configuration: 'invalid environment, one line per fault, or the database is newer',
	interrupted: 'interrupted by Ctrl-C',
};

const exitCodeRows = Object.entries(exitCodes).map(
	([name, code]) => `  ${String(code).padStart(3)}  ${meanings[name as keyof typeof exitCodes]}`,
);

const exitCodesTopic = `Every command ends with one of these codes:

${exitCodeRows.join('\n')}

A script can rely on the code alone: standard output carries only data, and only
if the command got far enough to produce it.`;

const formattingTopic = `Data goes to standard output, everything else (notes, questions, progress,
errors) to standard error, so that the output of a command can be kept or piped.

Without --json the output is for people: one line per field that is set, or a
table. On a terminal it fits the width: long texts are cut with an ellipsis,
ids never are; messages are wrapped, commands to be copied never are. Without a
terminal nothing is cut. The wording may change between versions.

With --json the output is the unchanged answer of the API: an object, or for a
list {"data", "total", "page", "limit"}, with all pages merged with
--all. Fields are only ever added. Commands without an API answer (config,
doctor, profiles, completion) print the same facts as JSON.

  $ oplink orgs list --json | jq -r '.data[] | [.orgKey, .name] | @tsv'
  $ oplink links list --org Ab12 --all --json | jq '.data | length'

links export writes the links as NDJSON, JSON or CSV, as --format says; --json
does not change that.

Colour and animation appear on a terminal only, and never with NO_COLOR or with
TERM=dumb. Times are in UTC, in the form of ISO 8601.`;

/** The scopes of a preset, without those that another one includes. */
const ownScopes = (scopes: readonly string[]): string =>
	scopes.filter((scope) => !scopes.includes(scope.replace(/:read$/, ':write')) || !scope.endsWith(':read')).join(' ');

const scopesTopic = `What oplink tokens create --scope takes: presets, single scopes, or both.

${listText(Object.entries(presets).map(([name, scopes]) => [name, ownScopes(scopes)]))}

Each area has a scope for reading and one for writing, which includes reading:

${indented(wrapped(allScopes.filter((scope) => !scope.endsWith(':read')).join(' '), WIDTH - INDENT))}

A refusal names the scope that is missing.`;

type Topic = {name: string; summary: string; text: string};

/** Help topics, shown by `oplink help NAME`. */
export const topics: readonly Topic[] = [
	{name: 'environment', summary: 'environment variables of the CLI and the server', text: environmentTopic},
	{name: 'exit-codes', summary: 'exit codes and their meanings', text: exitCodesTopic},
	{name: 'scopes', summary: 'scopes and presets of operator tokens', text: scopesTopic},
	{name: 'formatting', summary: 'output for people and for programs', text: formattingTopic},
];

const PROMPT = '  $ ';
const CONTINUED = ' \\';
const CONTINUATION = '      ';

/** An example as help shows it. Lines longer than 80 columns are continued before an option, in shell syntax. */
export const exampleLines = (example: string): string => {
	const lines: string[] = [];
	for (const part of example.split(/ (?=--|\| )/)) {
		const last = lines.at(-1);
		const longer = last === undefined ? PROMPT + part : `${last} ${part}`;
		if (last === undefined || longer.length + CONTINUED.length <= WIDTH) {
			lines[Math.max(0, lines.length - 1)] = longer;
		} else {
			lines.push(CONTINUATION + part);
		}
	}

	return lines.join(`${CONTINUED}\n`);
};

/** The end of the program's help. */
export const topicsText = `
Help topics:
${topics.map(({name, summary}) => `  help ${name.padEnd(12)} ${summary}`).join('\n')}`;

/** The deepest command that the words name. */
const commandOf = (command: Command, [word, ...rest]: string[]): Command | null => {
	if (word === undefined) {
		return command;
	}

	const inner = command.commands.find((one) => one.name() === word);
	return inner === undefined ? null : commandOf(inner, rest);
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

			const command = commandOf(program, words);
			if (command === null) {
				throw usageError(`There is no command or topic '${words.join(' ')}'`, 'oplink help shows them');
			}

			command.outputHelp();
		});
};
