import {type Area, MODERATION, type Scope} from '../../platform/config/operator-scopes.ts';

const ORG = '/admin/organizations/:orgId';

/** The area of each path of operators; the longest prefix decides. A route without an area is refused at the start. */
const byPath: Readonly<Record<string, Area | typeof MODERATION>> = {
	'/admin/links': 'links',
	[`${ORG}/links`]: 'links',
	[`${ORG}/links/:id/block`]: MODERATION,
	[`${ORG}/links/:id/unblock`]: MODERATION,
	'/admin/reports': MODERATION,
	[`${ORG}/app-config`]: 'apps',
	'/admin/domains': 'domains',
	[`${ORG}/domains`]: 'domains',
	[`${ORG}/domains/:id/approve`]: MODERATION,
	[`${ORG}/domains/:id/reject`]: MODERATION,
	[`${ORG}/templates`]: 'templates',
	[`${ORG}/channels`]: 'channels',
	[`${ORG}/api-keys`]: 'keys',
	[`${ORG}/stats`]: 'stats',
	[`${ORG}/usage`]: 'stats',
	[`${ORG}/app-status`]: 'stats',
	'/admin/clicks/stream': 'stats',
	[`${ORG}/matches`]: 'matches',
	'/admin/matches': 'matches',
	[`${ORG}/events`]: 'matches',
	[`${ORG}/export`]: 'export',
	[`${ORG}/webhook-endpoints`]: 'webhooks',
	[`${ORG}/devices`]: 'privacy',
	[`${ORG}/users`]: 'privacy',
	'/admin/billing': 'billing',
	'/admin/organizations': 'orgs',
	[`${ORG}/suspend`]: MODERATION,
	[`${ORG}/activate`]: MODERATION,
	[`${ORG}/plan`]: MODERATION,
	[`${ORG}/audit-log`]: 'audit',
	'/admin/webhooks': 'system',
	'/admin/status': 'system',
	'/admin/doctor': 'system',
	'/admin/tokens': 'system',
};

/** Routes for every operator, whatever the scopes. */
const FOR_ALL = new Set(['/admin/whoami']);

/** POSTs that change nothing. */
const READING = new Set([`${ORG}/matches/simulate`]);

const areaOf = (path: string) => {
	const prefixes = Object.keys(byPath).filter((prefix) => path === prefix || path.startsWith(`${prefix}/`));
	const longest = prefixes.toSorted((one, other) => other.length - one.length)[0];
	return longest === undefined ? undefined : byPath[longest];
};

/**
 * The scope that a route of operators needs: reading for GET and dry runs, else writing, or moderation. Null: none.
 * @throws for a path without an area.
 */
export const scopeOfRoute = (method: string, path: string): Scope | null => {
	if (FOR_ALL.has(path)) {
		return null;
	}

	const area = areaOf(path);
	if (area === undefined) {
		throw new Error(`${method} ${path} has no scope: add it to route-scopes.ts`);
	}

	return area === MODERATION ? area : `${area}:${method === 'GET' || READING.has(path) ? 'read' : 'write'}`;
};
