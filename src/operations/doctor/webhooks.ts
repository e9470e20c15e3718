import {run, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import {type Finding, findingsOf} from './finding.ts';

const {warn} = findingsOf('Webhooks');

type Deps = Pick<Services, 'config' | 'db' | 'figuresOfAll' | 'metrics'>;

/** Organizations with endpoints that were disabled because they took nothing. */
const findDisabled = async ({db}: Deps): Promise<Finding[]> => {
	const rows = await run<{orgKey: string; id: string; url: string; reason: string}>(
		db,
		sql`SELECT org_key AS "orgKey", webhook_endpoints.id, url, disabled_reason AS reason
		FROM webhook_endpoints JOIN organizations ON organizations.id = organization_id
		WHERE NOT enabled AND disabled_reason IS NOT NULL ORDER BY org_key, webhook_endpoints.created_at LIMIT 10`,
	);
	return rows.map(({orgKey, id, url, reason}) =>
		warn(
			'webhooks.disabled',
			`${orgKey}: the endpoint ${url} was disabled. ${reason}`,
			`Correct the receiver, then run oplink endpoints update ${orgKey} ${id} --enable`,
		),
	);
};

/** Attempts that do not end, in any process of this machine. */
const findOverdue = async ({figuresOfAll, metrics}: Deps): Promise<Finding[]> => {
	const figures = await (figuresOfAll?.() ?? metrics.registry.getMetricsAsJSON());
	const overdue = figures.find(({name}) => name === 'oplink_webhook_attempts_overdue')?.values[0]?.value ?? 0;
	return overdue === 0
		? []
		: [
				warn(
					'webhooks.overdue',
					`attempts to send a webhook that have not ended for a minute: ${overdue}; others took their slots`,
					'Restart the server, and report the endpoints that its log names',
				),
			];
};

/** Endpoints on this machine are for development, where everybody trusts everybody. */
const findLocal = async ({config, db}: Deps): Promise<Finding[]> => {
	const organizations = config.nodeEnv === 'production' ? [] : await db('organizations').limit(2).select('id');
	return organizations.length < 2
		? []
		: [
				warn(
					'webhooks.local',
					'each organization may send webhooks to any port of this machine and see the answers',
					'Set NODE_ENV=production, unless you trust every organization with this machine',
				),
			];
};

/** What is wrong with webhooks; no finding if nothing is. */
export const checkWebhooks = async (services: Deps): Promise<Finding[]> =>
	(await Promise.all([findDisabled, findOverdue, findLocal].map((find) => find(services)))).flat();
