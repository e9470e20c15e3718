import type {AuditRecord} from '../../accounts/audit/audit-log.ts';
import {timeText} from '../match-trace.ts';
import {resource} from '../resource.ts';
import type {Json} from '../server/admin-client.ts';

export const auditCommand = resource<Json<AuditRecord>>({path: 'audit-log'}).list({
	usage: 'audit [org]',
	summary: 'Show the audit log of an organization, newest first',
	examples: ['audit', 'audit --org Ab12 --all --json'],
	columns: [
		{title: 'AT (UTC)', value: ({at}) => timeText(at)},
		{title: 'ACTION', value: ({action}) => action},
		{title: 'ENTITY', value: ({entityType}) => entityType},
		// A narrow terminal shows the actor, which people look for, without it.
		{title: 'ENTITY ID', value: ({entityId}) => entityId, wide: true},
		{title: 'ACTOR', value: ({actor}) => actor.name ?? actor.type, flexible: true},
	],
	empty: 'change something: each change of links, domains, keys and members is listed here',
});
