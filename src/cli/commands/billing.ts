import {Option} from 'commander';
import {type CommandGroup, type Context, command} from '../command.ts';
import {pageOptions} from '../common-options.ts';
import {eventColumns, eventCommands, type GatewayEvent} from '../received-events.ts';
import {listAt, listPages} from '../server/list-pages.ts';

const EVENTS = '/admin/billing/events';

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

		...eventCommands(EVENTS),
	],
};
