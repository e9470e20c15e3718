import {counted} from '../../platform/plural.ts';
import {OperatorError, usageError} from '../cli-errors.ts';
import {type CommandGroup, command} from '../command.ts';
import {yesOption} from '../common-options.ts';
import {exitCodes} from '../exit-codes.ts';
import {requireConsent} from '../require-consent.ts';
import {clickHouseOf, withDatabase} from '../server/with-database.ts';

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
