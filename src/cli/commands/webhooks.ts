import {Option} from 'commander';
import type {IdentityEventJson} from '../../accounts/identity/identity-event-store.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {pageOptions} from '../common-options.ts';
import {eventColumns, eventCommands} from '../received-events.ts';
import type {Json} from '../server/admin-client.ts';
import {listAt, listPages} from '../server/list-pages.ts';

type IdentityEvent = Json<IdentityEventJson>;

const EVENTS = '/admin/webhooks/events';

export const webhookCommands: CommandGroup = {
	name: 'webhooks',
	summary: 'Inspect and replay webhooks from the identity provider (last 30 days); for gateways, see billing',
	commands: [
		command({
			usage: 'list',
			summary: 'List the events of the identity provider with their outcomes, newest first',
			examples: ['list --outcome FAILED --all', 'list --json'],
			options: [
				new Option('--outcome <outcome>', 'only events with this outcome').choices(['APPLIED', 'IGNORED', 'FAILED']),
				...pageOptions(),
			],
			run: async ({connection, options, show}: Context<{outcome?: string}>) => {
				const {outcome} = options;
				const list = listAt<IdentityEvent>(connection.admin(), EVENTS);
				await show.page(
					await listPages(list, options, {outcome}),
					eventColumns,
					outcome === undefined
						? 'have the identity provider send its webhooks here (docs/portal.md)'
						: 'oplink webhooks list without a filter',
				);
			},
		}),

		...eventCommands(EVENTS),
	],
};
