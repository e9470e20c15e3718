import {Option} from 'commander';
import type {CommandGroup} from '../command.ts';
import {eventCommands} from '../received-events.ts';

export const webhookCommands: CommandGroup = {
	name: 'webhooks',
	summary: 'Inspect and replay webhooks from the identity provider (last 30 days); for gateways, see billing',
	commands: eventCommands('webhooks/events', {
		usage: 'list',
		group: 'webhooks',
		summary: 'List the events of the identity provider with their outcomes, newest first',
		examples: ['list --outcome FAILED --all', 'list --json'],
		filters: [
			new Option('--outcome <outcome>', 'only events with this outcome').choices(['APPLIED', 'IGNORED', 'FAILED']),
		],
		query: ({outcome}: {outcome?: string}) => ({outcome}),
		empty: 'have the identity provider send its webhooks here (docs/api.md)',
	}),
};
