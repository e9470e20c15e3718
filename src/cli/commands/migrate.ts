import type {Db} from '../../platform/db/db.ts';
import {type CommandGroup, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {requireAnswerer, requireConsent} from '../require-consent.ts';
import {withDatabase} from '../server/with-database.ts';

const migrations = () => import('../../platform/db/migrate.ts');

export const migrateCommands: CommandGroup = {
	name: 'migrate',
	summary: 'Apply, roll back or list database migrations',
	commands: [
		command({
			usage: 'up',
			summary: 'Apply all pending migrations',
			about: 'serve applies them as well.',
			examples: ['up'],
			run: async (context) => {
				const up = async (db: Db) => (await migrations()).migrateUp(db);
				const applied = await withDatabase(context, up, {writable: true});
				await context.show.answer({applied}, () =>
					applied.length === 0
						? 'Nothing to do: every migration is applied'
						: applied.map((name) => `applied ${name}`).join('\n'),
				);
			},
		}),

		command({
			usage: 'down',
			summary: 'Roll back the latest migration',
			about: 'Deletes the data of its tables. Stop the server first.',
			examples: ['down', 'down --yes'],
			options: [yesOption()],
			run: async (context) => {
				const {io, options} = context;
				requireAnswerer(context);
				const down = async (db: Db, place: string) => {
					const {migrateDown, migrationStatus} = await migrations();
					const newest = (await migrationStatus(db)).findLast(({appliedAt}) => appliedAt !== null);
					if (newest !== undefined) {
						const question = `Roll back ${newest.name} in ${place}, and delete the data in the tables it created?`;
						await requireConsent({io, options}, question);
					}

					return migrateDown(db);
				};
				const undone = await withDatabase(context, down, {exclusive: true, writable: true});
				await context.show.answer({undone}, () =>
					undone === null ? 'Nothing to do: no migration is applied' : `rolled back ${undone}`,
				);
			},
		}),

		command({
			usage: 'status',
			summary: 'List migrations with the times they were applied',
			examples: ['status', 'status --json'],
			run: async (context) => {
				const states = await withDatabase(context, async (db) => (await migrations()).migrationStatus(db));
				await context.show.answer(states, (rows) =>
					context.show.table(
						[
							{title: 'MIGRATION', value: ({name}) => name},
							{
								title: 'APPLIED',
								value: ({appliedAt, known}) =>
									known ? (appliedAt?.toISOString() ?? 'pending') : 'by a newer version of oplink',
							},
						],
						rows,
					),
				);
			},
		}),
	],
};
