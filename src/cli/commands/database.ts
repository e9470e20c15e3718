import type {Db} from '../../platform/db/db.ts';
import {counted} from '../../platform/text.ts';
import {exitCodes, OperatorError, usageError} from '../cli-errors.ts';
import {type CommandGroup, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {requireAnswerer, requireConsent} from '../prompts.ts';
import {clickHouseOf, withDatabase} from '../server/with-database.ts';

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

const placeNames = {clickhouse: 'ClickHouse', postgres: 'PostgreSQL'} as const;
type Place = keyof typeof placeNames;

const isPlace = (text: string): text is Place => Object.hasOwn(placeNames, text);

export const clickCommands: CommandGroup = {
	name: 'clicks',
	summary: 'Move raw clicks between PostgreSQL and ClickHouse',
	commands: [
		command({
			usage: 'migrate <place>',
			summary: 'Move all raw clicks to another database',
			about: 'PLACE is clickhouse (CLICKS_URL) or postgres. Stop every server first.',
			examples: ['migrate clickhouse', 'migrate postgres --yes'],
			options: [yesOption()],
			run: async ({io, options, show}, place: string) => {
				if (!isPlace(place)) {
					throw usageError('The place must be clickhouse or postgres', 'Example: oplink clicks migrate clickhouse');
				}

				const clickHouse = await clickHouseOf(io);
				await requireConsent(
					{io, options},
					`Move all raw clicks to ${placeNames[place]}? No server may run meanwhile.`,
				);
				const {migrateClicks} = await import('../../visits/click-stores/clickhouse/migrate-clicks.ts');
				const moved = await withDatabase({io}, (db) => migrateClicks(db, clickHouse, place), {
					exclusive: true,
				}).catch((error: unknown) => {
					const {name, message} = error as Error;
					throw name === 'MigrationError'
						? new OperatorError(`${message}. Nothing was changed`, exitCodes.conflict)
						: error;
				});
				await show.answer({place, moved}, () =>
					moved === null
						? `Nothing to do: the clicks are in ${placeNames[place]}`
						: `${counted(moved, 'click')} moved to ${placeNames[place]}`,
				);
			},
		}),
	],
};
