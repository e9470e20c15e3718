import {Option} from 'commander';
import type {IdentityEventJson} from '../../identity/identity-event-store.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {type PageOptions, pageOptions} from '../common-options.ts';
import {timeText} from '../match-trace.ts';
import type {Json} from '../server/admin-client.ts';
import {listAt, listPages} from '../server/list-pages.ts';

type IdentityEvent = Json<IdentityEventJson>;

const EVENTS = '/admin/webhooks/events';

const eventPath = (id: string): string => `${EVENTS}/${encodeURIComponent(id)}`;

/** As in the events of billing: event and outcome first, ids last. */
const eventFields = (event: IdentityEvent): Array<[string, unknown]> => [
	['received', event.receivedAt],
	['type', event.type],
	['outcome', event.outcome],
	['reason', event.reason],
	['deliveries', event.deliveries],
	['processed', event.processedAt],
	['event key', event.eventKey],
	['id', event.id],
];

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
			run: async ({connection, options, show}: Context<PageOptions & {outcome?: string}>) => {
				const {outcome} = options;
				const list = listAt<IdentityEvent>(connection.admin(), EVENTS);
				await show.page(
					await listPages(list, options, {outcome}),
					[
						{title: 'AT (UTC)', value: ({receivedAt}) => timeText(receivedAt)},
						{title: 'ID', value: ({id}) => id},
						{title: 'OUTCOME', value: ({outcome: ended}) => ended},
						{title: 'TYPE', value: ({type}) => type, flexible: true, keep: 'end'},
					],
					outcome === undefined
						? 'have the identity provider send its webhooks here (docs/portal.md)'
						: 'oplink webhooks list without a filter',
				);
			},
		}),

		command({
			usage: 'show <id>',
			summary: 'Show one event: whether it was applied, or why not',
			examples: ['show 5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11'],
			run: async ({connection, show}, id: string) => {
				await show.fields(await connection.admin().get<IdentityEvent>(eventPath(id)), eventFields);
			},
		}),

		command({
			usage: 'replay <id>',
			summary: 'Replay an event, whatever its earlier outcome, and show the new outcome',
			examples: ['replay 5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11'],
			run: async ({connection, show}, id: string) => {
				await show.fields(await connection.admin().post<IdentityEvent>(`${eventPath(id)}/replay`), eventFields);
			},
		}),
	],
};
