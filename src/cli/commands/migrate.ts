import {type CommandGroup, type Context, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {requireConsent} from '../require-consent.ts';

/** Opens the configured database for `work` and closes it again, also after Ctrl-C. */
const withDatabase = async <T>(
	{io}: Context,
	work: (database: import('../../db/db.ts').Db, migrations: typeof import('../../db/migrate.ts')) => Promise<T>,
): Promise<T> => {
	const [{loadConfig}, {createLog}, {openDatabase}, migrations] = await Promise.all([
		import('../../config.ts'),
		import('../../log.ts'),
		import('../../db/open-database.ts'),
		import('../../db/migrate.ts'),
	]);
	const config = loadConfig(io.env, {isTerminal: io.stderr.isTTY === true});
	// What the database does on the way is of interest only where it was asked for, or goes wrong.
	const logLevel = io.env['LOG_LEVEL'] ? config.logLevel : 'warn';
	const {db, close} = await openDatabase(config, createLog({...config, logLevel}));
	try {
		return await work(db, migrations);
	} finally {
		await close();
	}
};

export const migrateCommands: CommandGroup = {
	name: 'migrate',
	summary: 'Bring the database to this version of the program, or back',
	commands: [
		command({
			usage: 'up',
			summary: 'Apply every migration that is pending; serve does this as well',
			examples: ['up'],
			run: async (context) => {
				const applied = await withDatabase(context, (db, {migrateUp}) => migrateUp(db));
				await context.show.answer({applied}, () =>
					applied.length === 0
						? 'Nothing to do: every migration is applied'
						: applied.map((name) => `applied ${name}`).join('\n'),
				);
			},
		}),

		command({
			usage: 'down',
			summary: 'Undo the newest migration, with the data that lives in what it made',
			examples: ['down', 'down --yes'],
			options: [yesOption()],
			run: async (context: Context<{yes?: boolean}>) => {
				await requireConsent(
					context.io,
					context.options.yes,
					'Undo the newest migration and lose the data in what it made?',
				);
				const undone = await withDatabase(context, (db, {migrateDown}) => migrateDown(db));
				await context.show.answer({undone}, () =>
					undone === null ? 'Nothing to do: no migration is applied' : `undid ${undone}`,
				);
			},
		}),

		command({
			usage: 'status',
			summary: 'List the migrations and when each was applied',
			examples: ['status', 'status --json'],
			run: async (context) => {
				const migrations = await withDatabase(context, (db, {migrationStatus}) => migrationStatus(db));
				await context.show.answer(migrations, (rows) =>
					context.show.table(
						[
							{title: 'MIGRATION', value: ({name}) => name},
							{title: 'APPLIED', value: ({appliedAt}) => appliedAt?.toISOString() ?? 'pending'},
						],
						rows,
					),
				);
			},
		}),
	],
};
