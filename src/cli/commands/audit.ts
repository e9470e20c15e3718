import {type Context, command} from '../command.ts';
import {type PageOptions, pageOptions} from '../common-options.ts';
import {organizationPath} from '../server/link-surface.ts';
import {listAt, listPages} from '../server/list-pages.ts';

type AuditRecord = {
	id: string;
	at: string;
	action: string;
	entityType: string;
	entityId: string | null;
	actor: {type: string; id: string | null; name: string | null};
};

export const auditCommand = command({
	usage: 'audit <org>',
	summary: 'Show who changed what in an organization, newest first',
	examples: ['audit Ab12', 'audit Ab12 --all --json'],
	options: pageOptions(),
	run: async ({connection, options, show}: Context<PageOptions>, org: string) => {
		const page = await listPages(
			listAt<AuditRecord>(connection.admin(), `${organizationPath(org)}/audit-log`),
			options,
		);
		await show.page(page, [
			{title: 'AT', value: ({at}) => at},
			{title: 'ACTION', value: ({action}) => action},
			{title: 'ENTITY', value: ({entityType}) => entityType},
			{title: 'ENTITY ID', value: ({entityId}) => entityId},
			// A row with an id is wider than a small terminal anyway, and the actor is what people look for.
			{title: 'ACTOR', value: ({actor}) => actor.name ?? actor.type},
		]);
	},
});
