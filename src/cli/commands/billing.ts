import {Option} from 'commander';
import type {CommandGroup} from '../command.ts';
import {eventCommands} from '../received-events.ts';

export const billingCommands: CommandGroup = {
	name: 'billing',
	summary: 'Inspect and replay events from the payment gateways',
	commands: eventCommands('billing/events', {
		usage: 'events',
		group: 'billing',
		summary: 'List gateway events with their outcomes, newest first; billing show prints one in full',
		examples: ['events --outcome REVIEW --all', 'events --org Ab12 --gateway GATEWAY_A --json'],
		filters: [
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
		],
		query: ({org: orgId, gateway, outcome}: {org?: string; gateway?: string; outcome?: string}) => ({
			orgId,
			gateway,
			outcome,
		}),
		more: [{title: 'REASON', value: ({reason}) => reason, flexible: true, wide: true}],
		empty: 'have Stripe or Paymob send its events here (docs/billing.md)',
	}),
};
