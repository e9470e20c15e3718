import type {gatewayEventJson} from '../accounts/billing/gateway-event-store.ts';
import {type AnyCommand, command} from './command.ts';
import {timeText} from './match-trace.ts';
import type {Json} from './server/admin-client.ts';
import type {Column} from './terminal/output.ts';

const EXAMPLE_ID = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';

export type GatewayEvent = Json<ReturnType<typeof gatewayEventJson>>;

/** An event of a gateway or, without its fields, of the identity provider. */
type ReceivedEvent = Partial<Omit<GatewayEvent, 'outcome'>> & {
	receivedAt: string;
	id: string;
	outcome: string;
	type: string;
};

/** Under the names that people know; anything else as it came. */
const gatewayNames: Record<string, string> = {GATEWAY_A: 'Stripe', GATEWAY_B: 'Paymob'};

/** Event and outcome first; ids last. */
const eventFields = (event: ReceivedEvent): Array<[string, unknown]> => [
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

/** Columns of events that other services sent. */
export const eventColumns: Array<Column<Pick<ReceivedEvent, 'receivedAt' | 'id' | 'outcome' | 'type'>>> = [
	{title: 'AT (UTC)', value: ({receivedAt}) => timeText(receivedAt)},
	{title: 'ID', value: ({id}) => id},
	{title: 'OUTCOME', value: ({outcome}) => outcome},
	{title: 'TYPE', value: ({type}) => type, flexible: true, keep: 'end'},
];

/** `show` and `replay` of events that other services sent. @param path of the list in the admin API. */
export const eventCommands = (path: string): AnyCommand[] => {
	const at = (id: string): string => `${path}/${encodeURIComponent(id)}`;
	return [
		command({
			usage: 'show <id>',
			summary: 'Show one event: what it changed, or why it changed nothing',
			examples: [`show ${EXAMPLE_ID}`],
			run: async ({connection, show}, id: string) => {
				await show.fields(await connection.admin().get<ReceivedEvent>(at(id)), eventFields);
			},
		}),
		command({
			usage: 'replay <id>',
			summary: 'Replay an event, whatever its earlier outcome, and show the new outcome',
			examples: [`replay ${EXAMPLE_ID}`],
			run: async ({connection, show}, id: string) => {
				await show.fields(await connection.admin().post<ReceivedEvent>(`${at(id)}/replay`), eventFields);
			},
		}),
	];
};
