import type {Services} from '../../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {warn} = findingsOf('Webhooks');

/** Names organizations with endpoints that were disabled because they took nothing; no finding if there are none. */
export const checkWebhooks = async ({db}: Pick<Services, 'db'>): Promise<Finding[]> => {
	const rows: Array<{orgKey: string; id: string; url: string; reason: string}> = await db('webhook_endpoints')
		.join('organizations', 'organizations.id', 'webhook_endpoints.organization_id')
		.where({enabled: false})
		.whereNotNull('disabled_reason')
		.orderBy(['org_key', 'webhook_endpoints.created_at'])
		.limit(10)
		.select('webhook_endpoints.id', 'url', {orgKey: 'org_key', reason: 'disabled_reason'});
	return rows.map(({orgKey, id, url, reason}) =>
		warn(
			'webhooks.disabled',
			`${orgKey}: the endpoint ${url} was disabled. ${reason}`,
			`Correct the receiver, then run oplink endpoints update ${orgKey} ${id} --enable`,
		),
	);
};
