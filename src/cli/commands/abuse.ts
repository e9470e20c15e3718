import {Option} from 'commander';
import type {LinkWithDomain} from '../../client/oplink.ts';
import type {reportJson} from '../../visits/abuse/abuse-report-store.ts';
import {type CommandGroup, type Context, command} from '../command.ts';
import {orgOption, pageOptions} from '../common-options.ts';
import {resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';
import {linkPath, namedAdminLink} from '../server/named-link.ts';

/** Block and unblock are a POST each, of an operator alone. */
const decision = (verb: 'block' | 'unblock', summary: string, examples: string[], reason: string) =>
	command({
		usage: `${verb} <link>`,
		summary,
		examples,
		options: [orgOption(), new Option('--reason <text>', reason)],
		run: async (context: Context<{reason?: string}>, named: string) => {
			const found = await namedAdminLink(context, named);
			const body = {reason: context.options.reason ?? null};
			const link = await found.client.post<LinkWithDomain>(`${linkPath(found)}/${verb}`, body);
			await context.show.answer(link, ({url}) => `${verb === 'block' ? 'Blocked' : 'Unblocked'} ${url}`);
		},
	});

export const blockCommand = decision(
	'block',
	'Block a link, which then resolves and matches no more',
	['block https://go.acme.example/Ab12/spring --reason "Phishing of a bank"', 'block spring --org Ab12'],
	'reason in the audit log and the link (max. 500 characters)',
);

export const unblockCommand = decision(
	'unblock',
	'Unblock a link, which no list then blocks again',
	['unblock spring', 'unblock spring --reason "The shop was cleaned"'],
	'reason in the audit log (max. 500 characters)',
);

type Report = Json<ReturnType<typeof reportJson>>;

const reports = resource<Report>({path: 'reports', ofServer: true});

export const reportCommands: CommandGroup = {
	name: 'reports',
	summary: 'Manage reports of links that strangers consider harmful',
	commands: [
		reports.list({
			summary: 'List reports, newest first',
			examples: ['list', 'list --state all --org Ab12'],
			options: [
				orgOption(),
				new Option('--state <state>', 'state of the reports').choices(['open', 'closed', 'all']).default('open'),
				...pageOptions(),
			],
			query: ({state, org}: {state: string; org?: string}) => ({state, orgId: org}),
			columns: [
				{title: 'ID', value: ({id}) => id},
				{title: 'REASON', value: ({reason}) => reason},
				{title: 'COUNT', value: ({count}) => count, align: 'right'},
				{title: 'LAST', value: ({lastAt}) => lastAt.slice(0, 10)},
				{title: 'LINK', value: ({link}) => link, flexible: true},
			],
			empty: 'Nobody reported a link; oplink reports list --state all lists closed reports, too',
		}),

		reports.request({
			usage: 'show <id>',
			route: 'GET :row',
			summary: 'Show a report with its details and sender',
			examples: ['show 7d0c6f1e-4c1b-4f0e-9a55-0d6a5f0f7f11'],
		}),

		reports.request({
			usage: 'close <id>',
			route: 'POST :row/close',
			summary: 'Close a report',
			examples: ['close 7d0c6f1e-4c1b-4f0e-9a55-0d6a5f0f7f11 --note "Blocked the link"'],
			options: [new Option('--note <text>', 'what was found or done (max. 1000 characters)')],
			body: ({note}: {note?: string}) => ({note: note ?? null}),
			text: ({link}) => `Closed the report of ${link}`,
		}),
	],
};
