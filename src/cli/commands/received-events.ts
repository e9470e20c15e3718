import {Option} from 'commander';
import type {gatewayEventJson} from '../../accounts/billing/gateway-event-store.ts';
import type {AnyCommand, CommandGroup} from '../command.ts';
import {pageOptions} from '../common-options.ts';
import {timeText} from '../match-trace.ts';
import {resource} from '../resource.ts';
import type {Json, Query} from '../server/admin-client.ts';
import type {Column} from '../terminal/output.ts';

const EXAMPLE_ID = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';

/** An event of a gateway or, without its fields, of the identity provider. */
type ReceivedEvent = Partial<Json<ReturnType<typeof gatewayEventJson>>> & {
	receivedAt: string;
	id: string;
	outcome: string;
	type: string;
};

/** Names of the gateways; others are shown as received. */
const gatewayNames: Record<string, string> = {GATEWAY_A: 'Stripe', GATEWAY_B: 'Paymob'};

/** Event and outcome first; ids last. */
const fields = (event: ReceivedEvent): Array<[string, unknown]> => [
	['received', event.receivedAt],
	['gateway', event.gateway && `${event.gateway} (${gatewayNames[event.gateway] ?? '-'})`],
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

const columns: Array<Column<ReceivedEvent>> = [
	{title: 'AT (UTC)', value: ({receivedAt}) => timeText(receivedAt)},
	{title: 'ID', value: ({id}) => id},
	{title: 'OUTCOME', value: ({outcome}) => outcome},
	{title: 'TYPE', value: ({type}) => type, flexible: true, keep: 'end'},
];

type List = {
	/** The word of the list, such as `list`, after the group's. */
	usage: string;
	group: string;
	summary: string;
	examples: string[];
	filters: Option[];
	query(options: object): Query;
	/** Columns after those of all events. */
	more?: Array<Column<ReceivedEvent>>;
	/** Advice if there is no event at all. */
	empty: string;
};

/** The list, `show` and `replay` of events that other services sent. @param path of the list below `/admin`. */
const eventCommands = (path: string, {usage, group, filters, more = [], empty, ...list}: List): AnyCommand[] => {
	const events = resource<ReceivedEvent>({path, ofServer: true, fields});
	return [
		events.list({
			...list,
			usage,
			options: [...filters, ...pageOptions()],
			columns: [...columns, ...more],
			empty: (isFiltered) => (isFiltered ? `oplink ${group} ${usage} without a filter` : empty),
		}),
		events.request({
			usage: 'show <id>',
			route: 'GET :row',
			summary: 'Show an event with its outcome and the reason',
			examples: [`show ${EXAMPLE_ID}`],
		}),
		events.request({
			usage: 'replay <id>',
			route: 'POST :row/replay',
			summary: 'Replay an event and show the new outcome',
			about: 'An event can be replayed after any outcome.',
			examples: [`replay ${EXAMPLE_ID}`],
		}),
	];
};

export const billingCommands: CommandGroup = {
	name: 'billing',
	summary: 'Inspect and replay events from the payment gateways',
	commands: eventCommands('billing/events', {
		usage: 'events',
		group: 'billing',
		summary: 'List gateway events, newest first',
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

export const webhookCommands: CommandGroup = {
	name: 'webhooks',
	summary: 'Inspect and replay events from the identity provider',
	about: 'Events are kept for 30 days. For events from the payment gateways, see oplink billing.',
	commands: eventCommands('webhooks/events', {
		usage: 'list',
		group: 'webhooks',
		summary: 'List provider events, newest first',
		examples: ['list --outcome FAILED --all', 'list --json'],
		filters: [
			new Option('--outcome <outcome>', 'only events with this outcome').choices(['APPLIED', 'IGNORED', 'FAILED']),
		],
		query: ({outcome}: {outcome?: string}) => ({outcome}),
		empty: 'have the identity provider send its webhooks here (docs/api.md)',
	}),
};
