import {Command, CommanderError} from 'commander';
import type {OplinkApiError} from '../client/errors.ts';
import {packageVersion} from '../package-root.ts';
import {AdvisedError} from './cli-errors.ts';
import {type AnyCommand, type CommandGroup, createContext} from './command.ts';
import {appConfigCommands} from './commands/app-config.ts';
import {auditCommand} from './commands/audit.ts';
import {backupCommand, restoreCommand} from './commands/backup.ts';
import {billingCommands} from './commands/billing.ts';
import {completionCommand} from './commands/completion.ts';
import {configCommand} from './commands/config.ts';
import {dashboardCommand} from './commands/dashboard.ts';
import {doctorCommand} from './commands/doctor.ts';
import {domainCommands} from './commands/domains.ts';
import {keyCommands} from './commands/keys.ts';
import {linkCommands} from './commands/links.ts';
import {loginCommand, logoutCommand} from './commands/login.ts';
import {matchCommands} from './commands/match.ts';
import {migrateCommands} from './commands/migrate.ts';
import {organizationCommands} from './commands/organizations.ts';
import {planCommands} from './commands/plan.ts';
import {privacyCommands} from './commands/privacy.ts';
import {profileCommands} from './commands/profiles.ts';
import {qrCommands} from './commands/qr.ts';
import {serveCommand} from './commands/serve.ts';
import {statsCommand} from './commands/stats.ts';
import {statusCommand} from './commands/status.ts';
import {webhookCommands} from './commands/webhooks.ts';
import {complete} from './completion/complete.ts';
import {exitCodes} from './exit-codes.ts';
import {fittingPlan} from './fitting-plan.ts';
import {exampleLines} from './help/example-lines.ts';
import {addHelpCommand, topicsText} from './help/help-command.ts';
import {reported} from './reported.ts';
import type {Io} from './terminal/io.ts';
import {printable} from './terminal/printable.ts';

/** Every command, in the order of help. */
export const commands: Array<AnyCommand | CommandGroup> = [
	serveCommand,
	migrateCommands,
	backupCommand,
	restoreCommand,
	configCommand,
	statusCommand,
	doctorCommand,
	loginCommand,
	logoutCommand,
	profileCommands,
	organizationCommands,
	planCommands,
	keyCommands,
	appConfigCommands,
	linkCommands,
	qrCommands,
	domainCommands,
	statsCommand,
	dashboardCommand,
	matchCommands,
	auditCommand,
	privacyCommands,
	billingCommands,
	webhookCommands,
	completionCommand,
];

const INTRODUCTION = `Deep links you host yourself.

Commands use the server that you logged in to, or the one on this machine.
links and qr also work with a SERVER key (--api-key).`;

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 usage, 3 authentication, 4 not found, 5 conflict,
6 quota or plan, 7 server unreachable, 78 configuration, 130 interrupted.`;

/** The full name of a command, beginning with `oplink`. */
const wordsOf = (command: Command): string[] => [...(command.parent ? wordsOf(command.parent) : []), command.name()];

const declare = (
	parent: Command,
	spec: AnyCommand,
	act: (spec: AnyCommand, command: Command) => Promise<void>,
): void => {
	const command = parent.command(spec.usage).description(spec.summary);
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

/** The tree of commands over `io`; `finish` receives the exit code. */
export const createProgram = (io: Io, finish: (exitCode: number) => void): Command => {
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
		})
		.configureOutput({
			writeOut: (text) => io.stdout.write(text),
			writeErr: (text) => io.stderr.write(printable(text)),
			outputError: (text, writeErr) => writeErr(text.replace(/^error: /, 'Error: ')),
			getOutHelpWidth: () => io.stdout.columns || 80,
			getErrHelpWidth: () => io.stderr.columns || 80,
			getOutHasColors: () => false,
			getErrHasColors: () => false,
		})
		.showHelpAfterError('Next: add --help to see the usage')
		.addHelpText('after', `${topicsText}\n${EXIT_CODES}`)
		.exitOverride();
	const act = async (spec: AnyCommand, command: Command) => {
		const context = createContext(io, command.optsWithGlobals());
		const exitCode = await spec
			.run(context as never, ...(command.processedArgs as never[]))
			.catch(async (error: unknown) => {
				const advice = await fittingPlan(error, context.connection);
				throw advice === null ? error : new AdvisedError(error as OplinkApiError, advice);
			});
		finish(typeof exitCode === 'number' ? exitCode : exitCodes.ok);
	};
	for (const entry of commands) {
		if ('commands' in entry) {
			const group = program.command(entry.name).description(entry.summary);
			for (const spec of entry.commands) {
				declare(group, spec, act);
			}
		} else {
			declare(program, entry, act);
		}
	}

	addHelpCommand(program, io);
	return program;
};

/** Runs one command line, given as the arguments of the process. Never throws. @returns the exit code. */
export const run = (argv: string[], io: Io): Promise<number> =>
	reported(io, async () => {
		let exitCode: number = exitCodes.ok;
		const program = createProgram(io, (code) => {
			exitCode = code;
		});
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

		return exitCode;
	});
