import type {Option} from 'commander';
import type {gatewayEventJson} from '../accounts/billing/gateway-event-store.ts';
import type {AnyCommand} from './command.ts';
import {pageOptions} from './common-options.ts';
import {timeText} from './match-trace.ts';
import {resource} from './resource.ts';
import type {Json, Query} from './server/admin-client.ts';
import type {Column} from './terminal/output.ts';

const EXAMPLE_ID = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';

/** An event of a gateway or, without its fields, of the identity provider. */
export type ReceivedEvent = Partial<Json<ReturnType<typeof gatewayEventJson>>> & {
	receivedAt: string;
	id: string;
	outcome: string;
	type: string;
};

/** Under the names that people know; anything else as it came. */
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
	query: (options: never) => Query;
	/** Columns after those of all events. */
	more?: Array<Column<ReceivedEvent>>;
	/** Advice where no event has ever come. */
	empty: string;
};

/** The list, `show` and `replay` of events that other services sent. @param path of the list below `/admin`. */
export const eventCommands = (path: string, {usage, group, filters, more = [], empty, ...list}: List): AnyCommand[] => {
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
			summary: 'Show one event: what it changed, or why it changed nothing',
			examples: [`show ${EXAMPLE_ID}`],
		}),
		events.request({
			usage: 'replay <id>',
			route: 'POST :row/replay',
			summary: 'Replay an event, whatever its earlier outcome, and show the new outcome',
			examples: [`replay ${EXAMPLE_ID}`],
		}),
	];
};
