import {type AnyCommand, command} from './command.ts';
import {timeText} from './match-trace.ts';
import type {Column} from './terminal/output.ts';

const EXAMPLE_ID = '5b4e1c3a-9b1f-4c53-8b0e-0a3d2b7f1c11';

type ReceivedEvent = {receivedAt: string; id: string; outcome: string; type: string};

/** Columns of events that other services sent. */
export const eventColumns: Array<Column<ReceivedEvent>> = [
	{title: 'AT (UTC)', value: ({receivedAt}) => timeText(receivedAt)},
	{title: 'ID', value: ({id}) => id},
	{title: 'OUTCOME', value: ({outcome}) => outcome},
	{title: 'TYPE', value: ({type}) => type, flexible: true, keep: 'end'},
];

/**
 * `show` and `replay` of events that other services sent.
 * @param path of the list in the admin API. @param fields event and outcome first, ids last.
 */
export const eventCommands = <Event extends object>(
	path: string,
	fields: (event: Event) => Array<[string, unknown]>,
): AnyCommand[] => {
	const at = (id: string): string => `${path}/${encodeURIComponent(id)}`;
	return [
		command({
			usage: 'show <id>',
			summary: 'Show one event: what it changed, or why it changed nothing',
			examples: [`show ${EXAMPLE_ID}`],
			run: async ({connection, show}, id: string) => {
				await show.fields(await connection.admin().get<Event>(at(id)), fields);
			},
		}),
		command({
			usage: 'replay <id>',
			summary: 'Replay an event, whatever its earlier outcome, and show the new outcome',
			examples: [`replay ${EXAMPLE_ID}`],
			run: async ({connection, show}, id: string) => {
				await show.fields(await connection.admin().post<Event>(`${at(id)}/replay`), fields);
			},
		}),
	];
};
