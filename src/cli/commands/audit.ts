import type {AuditRecord} from '../../audit/audit-log.ts';
import {type Context, command} from '../command.ts';
import {orgOption, type PageOptions, pageOptions} from '../common-options.ts';
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
				{title: 'AT', value: ({at}) => at},
				{title: 'ACTION', value: ({action}) => action},
				{title: 'ENTITY', value: ({entityType}) => entityType},
				{title: 'ENTITY ID', value: ({entityId}) => entityId},
				// A row with an id is wider than a small terminal anyway, and the actor is what people look for.
				{title: 'ACTOR', value: ({actor}) => actor.name ?? actor.type},
			],
			'change something: each change of links, domains, keys and members is listed here',
		);
	},
});
