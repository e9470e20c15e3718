import type {AuditRecord} from '../../audit/audit-log.ts';
import {type Context, command} from '../command.ts';
import {orgOption, type PageOptions, pageOptions} from '../common-options.ts';
import {timeText} from '../match-trace.ts';
import type {Json} from '../server/admin-client.ts';
import {chosenPath} from '../server/link-surface.ts';
import {listAt, listPages} from '../server/list-pages.ts';

export const auditCommand = command({
	usage: 'audit [org]',
	summary: 'Show who changed what in an organization, newest first',
	examples: ['audit', 'audit --org Ab12 --all --json'],
	options: [orgOption(), ...pageOptions()],
	run: async (context: Context<PageOptions & {org?: string}>) => {
		const {client, path} = await chosenPath(context);
		const page = await listPages(listAt<Json<AuditRecord>>(client, `${path}/audit-log`), context.options);
		await context.show.page(
			page,
			[
				{title: 'AT (UTC)', value: ({at}) => timeText(at)},
				{title: 'ACTION', value: ({action}) => action},
				{title: 'ENTITY', value: ({entityType}) => entityType},
				// On a small terminal there is no room for it beside the actor, whom people look for.
				...(context.show.isWide ? [{title: 'ENTITY ID', value: ({entityId}: Json<AuditRecord>) => entityId}] : []),
				{title: 'ACTOR', value: ({actor}) => actor.name ?? actor.type, flexible: true},
			],
			'change something: each change of links, domains, keys and members is listed here',
		);
	},
});
