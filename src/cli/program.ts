import {Command, CommanderError} from 'commander';
import {packageVersion} from '../platform/package-root.ts';
import {adviceFor} from './advice.ts';
import {exitCodes} from './cli-errors.ts';
import {type AnyCommand, type CommandGroup, type Context, createContext} from './command.ts';
import {reportCommands} from './commands/abuse.ts';
import {auditCommand, deviceCommands, eventCommands, privacyCommands} from './commands/activity.ts';
import {appCommands, appConfigCommands} from './commands/app.ts';
import {applyCommand} from './commands/apply.ts';
import {backupCommand, restoreCommand} from './commands/backup.ts';
import {channelCommands} from './commands/channels.ts';
import {complete, completionCommand} from './commands/completion.ts';
import {keyCommands, tokenCommands} from './commands/credentials.ts';
import {clickCommands, migrateCommands} from './commands/database.ts';
import {domainCommands} from './commands/domains.ts';
import {endpointCommands} from './commands/endpoints.ts';
import {exportCommands} from './commands/export.ts';
import {linkCommands} from './commands/links.ts';
import {matchCommands} from './commands/match.ts';
import {organizationCommands, planCommands} from './commands/organizations.ts';
import {loginCommand, logoutCommand, profileCommands} from './commands/profiles.ts';
import {qrCommands} from './commands/qr.ts';
import {billingCommands, webhookCommands} from './commands/received-events.ts';
import {configCommand, dashboardCommand, doctorCommand, serveCommand, statusCommand} from './commands/server.ts';
import {statsCommand} from './commands/stats.ts';
import {templateCommands} from './commands/templates.ts';
import {addHelpCommand, exampleLines, topicsText} from './help.ts';
import {argumentsOf, declareCommand, termOf} from './leading-organization.ts';
import {faultInOptions, withSuggestion} from './option-names.ts';
import {type Call, newCall, runAndReport} from './report-error.ts';
import {renewIfDue} from './server/device-login.ts';
import type {PathOrigin} from './system-error.ts';
import {type Io, writeMessage} from './terminal/io.ts';
import {messageText} from './terminal/wrapped.ts';

/** Every command by its group, in the order of help. */
const groups: Array<[heading: string, commands: Array<AnyCommand | CommandGroup>]> = [
	['Links:', [linkCommands, qrCommands, channelCommands, templateCommands, domainCommands, reportCommands]],
	['Organizations:', [organizationCommands, planCommands, keyCommands, appConfigCommands, appCommands, applyCommand]],
	[
		'Reports:',
		[
			statsCommand,
			dashboardCommand,
			matchCommands,
			eventCommands,
			deviceCommands,
			endpointCommands,
			exportCommands,
			auditCommand,
			privacyCommands,
		],
	],
	['Payments and identities:', [billingCommands, webhookCommands]],
	[
		'Server:',
		[
			serveCommand,
			migrateCommands,
			clickCommands,
			backupCommand,
			restoreCommand,
			configCommand,
			statusCommand,
			tokenCommands,
			doctorCommand,
		],
	],
	['This program:', [loginCommand, logoutCommand, profileCommands, completionCommand]],
];

export const commands = groups.flatMap(([, inGroup]) => inGroup);

const INTRODUCTION = `Deep links you host yourself.

Commands use the server that you logged in to, or the one on this machine.
links and qr also work with a SERVER key (--api-key).`;

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 usage, 3 authentication, 4 not found, 5 conflict,
6 quota or plan, 7 server unreachable, 78 configuration, 130 interrupted.`;

/** The full name of a command, beginning with `oplink`. */
const wordsOf = (command: Command): string[] => [...(command.parent ? wordsOf(command.parent) : []), command.name()];

/** Help of a group shows the summary, help of the command itself also `about`. */
const describe = (command: Command, {summary, about}: Pick<AnyCommand, 'summary' | 'about'>): Command =>
	command.summary(summary).description(about === undefined ? summary : `${summary}\n\n${about}`);

const declare = (
	parent: Command,
	spec: AnyCommand,
	act: (spec: AnyCommand, command: Command) => Promise<void>,
): void => {
	const command = describe(declareCommand(parent, spec.usage), spec);
	for (const option of spec.options ?? []) {
		command.addOption(option);
	}

	const path = wordsOf(parent).join(' ');
	command.addHelpText(
		'after',
		`\nExamples:\n${spec.examples.map((example) => exampleLines(`${path} ${example}`)).join('\n')}`,
	);
	command.action(() => act(spec, command));
	for (const inner of spec.subcommands ?? []) {
		declare(command, inner, act);
	}
};

/** The values of a command's options and arguments, which may be paths. */
const pathOrigins = (command: Command): PathOrigin[] => [
	...command.options.flatMap((option): PathOrigin[] => {
		const value: unknown = command.getOptionValue(option.attributeName());
		return typeof value === 'string' && value !== '' ? [[option.long ?? option.flags, value]] : [];
	}),
	...command.args.map(
		(value, index): PathOrigin => [(command.registeredArguments[index]?.name() ?? 'argument').toUpperCase(), value],
	),
];

/** Commands and groups that need no server, or choose one themselves. */
const WITHOUT_SERVER = new Set([
	'login',
	'logout',
	'profiles',
	'serve',
	'migrate',
	'clicks',
	'backup',
	'restore',
	'config',
	'completion',
	'app-config example',
	'help',
]);

/** Names the server that is used if there are two, and renews the token of its profile if it came from a provider. */
const prepareServer = async ({io, connection}: Context, command: Command): Promise<void> => {
	const [, ...words] = wordsOf(command);
	if (!WITHOUT_SERVER.has(words[0] ?? '') && !WITHOUT_SERVER.has(words.join(' '))) {
		const server = connection.server();
		if (server.note !== null) {
			await writeMessage(io, server.note);
		}

		const name = server.tokenProfile();
		if (name !== null) {
			await renewIfDue(io, name);
		}
	}
};

/** The tree of commands over `io`. The command that runs stores its options, its advice and its exit code in `call`. */
export const createProgram = (io: Io, call: Call = newCall()): Command => {
	const program: Command = new Command('oplink')
		.description(INTRODUCTION)
		.version(packageVersion())
		.option('--json', 'print the answer of the API as JSON')
		.option('--url <url>', 'address of the server (OPLINK_URL)')
		.option('--token <token>', 'admin token (OPLINK_ADMIN_TOKEN)')
		.option('--profile <name>', 'profile that login saved (OPLINK_PROFILE)')
		.option('--api-key <key>', 'SERVER key, for links and qr (OPLINK_API_KEY)')
		// A subcommand also accepts its parent's options; they are not its own.
		.configureHelp({
			showGlobalOptions: true,
			visibleGlobalOptions: (command) => (command === program ? [] : [...program.options]),
			subcommandTerm: (command) => (command.parent === program ? command.name() : termOf(command)),
		})
		.configureOutput({
			writeOut: (text) => io.stdout.write(text),
			writeErr: (text) => io.stderr.write(messageText(text, io.stderr)),
			outputError: (text, writeErr) => writeErr(withSuggestion(text.replace(/^error: /, 'Error: '))),
			getOutHelpWidth: () => io.stdout.columns || 80,
			getErrHelpWidth: () => io.stderr.columns || 80,
			getOutHasColors: () => false,
			getErrHasColors: () => false,
		})
		.showHelpAfterError('Next: add --help to see the usage')
		.addHelpText('after', `${topicsText}\n${EXIT_CODES}`)
		.exitOverride();
	const act = async (spec: AnyCommand, command: Command) => {
		call.given = pathOrigins(command);
		call.faultText = faultInOptions(command);
		const options = command.optsWithGlobals<{org?: string}>();
		const {args, org} = argumentsOf(spec.usage, command, options.org);
		const context = createContext(io, {...options, org});
		const exitCode = await prepareServer(context, command)
			.then(() => spec.run(context, ...args))
			.catch(async (error: unknown) => {
				call.advice = await adviceFor(error, context.connection);
				throw error;
			});
		call.exitCode = typeof exitCode === 'number' ? exitCode : exitCodes.ok;
	};
	for (const [heading, inGroup] of groups) {
		program.commandsGroup(heading);
		for (const entry of inGroup) {
			if ('commands' in entry) {
				const group = describe(program.command(entry.name), entry);
				for (const spec of entry.commands) {
					declare(group, spec, act);
				}
			} else {
				declare(program, entry, act);
			}
		}
	}

	addHelpCommand(program, io);
	return program;
};

/** Runs one command line, given as the arguments of the process. Never throws. @returns the exit code. */
export const run = (argv: string[], io: Io): Promise<number> =>
	runAndReport(io, async (call) => {
		const program = createProgram(io, call);
		try {
			if (argv[0] === '__complete') {
				await complete(program, argv.slice(1), io);
			} else if (argv.length === 0) {
				program.outputHelp();
			} else {
				await program.parseAsync(argv, {from: 'user'});
			}
		} catch (error) {
			if (error instanceof CommanderError) {
				return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
			}

			throw error;
		}

		return call.exitCode;
	});
