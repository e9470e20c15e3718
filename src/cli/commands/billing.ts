import {Option} from 'commander';
import type {gatewayEventJson} from '../../billing/gateway-event-store.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {pageOptions} from '../common-options.ts';
import {eventColumns, eventCommands} from '../received-events.ts';
import type {Json} from '../server/admin-client.ts';
import {listAt, listPages} from '../server/list-pages.ts';

type GatewayEvent = Json<ReturnType<typeof gatewayEventJson>>;

const EVENTS = '/admin/billing/events';

/** Under the names that people know; anything else as it came. */
const gatewayNames: Record<string, string> = {GATEWAY_A: 'Stripe', GATEWAY_B: 'Paymob'};

/** Event and outcome first; ids last. */
const eventFields = (event: GatewayEvent): Array<[string, unknown]> => [
	['received', event.receivedAt],
	['gateway', `${event.gateway} (${gatewayNames[event.gateway] ?? '-'})`],
	['type', event.type],
	['outcome', event.outcome],
	['reason', event.reason],
	['deliveries', event.deliveries],
	['processed', event.processedAt],
	['organization', event.organizationId],
	['attempt', event.attemptId],
	['reference', event.reference],
	['event key', event.eventKey],
	['id', event.id],
];

export const billingCommands: CommandGroup = {
	name: 'billing',
	summary: 'Inspect and replay events from the payment gateways',
	commands: [
		command({
			usage: 'events',
			summary: 'List gateway events with their outcomes, newest first; billing show prints one in full',
			examples: ['events --outcome REVIEW --all', 'events --org Ab12 --gateway GATEWAY_A --json'],
			options: [
				new Option('--org <org>', 'only events of this organization (id or orgKey)'),
				new Option('--gateway <gateway>', 'only events of this gateway: A is Stripe, B is Paymob').choices([
					'GATEWAY_A',
					'GATEWAY_B',
				]),
				new Option('--outcome <outcome>', 'only events with this outcome').choices([
					'APPLIED',
					'IGNORED',
					'UNMATCHED',
					'REVIEW',
				]),
				...pageOptions(),
			],
			run: async ({connection, options, show}: Context<{gateway?: string; outcome?: string}>) => {
				const {org: orgId, gateway, outcome} = options;
				const list = listAt<GatewayEvent>(connection.admin(), EVENTS);
				await show.page(
					await listPages(list, options, {orgId, gateway, outcome}),
					[...eventColumns, {title: 'REASON', value: ({reason}) => reason, flexible: true, wide: true}],
					[orgId, gateway, outcome].some((filter) => filter !== undefined)
						? 'oplink billing events without a filter'
						: 'have Stripe or Paymob send its events here (docs/billing.md)',
				);
			},
		}),

		...eventCommands(EVENTS, eventFields),
	],
};
