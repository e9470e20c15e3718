import {randomUUID} from 'node:crypto';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {member, ops, type Portal} from '../helpers/portal.ts';

/** Records that requests can name, by the names of `_values.ts`. */
export type World = Record<string, string>;

/** `renew` creates new sessions, because sessions end after a minute. */
export type RenewableWorld = {names: World; renew(): Promise<void>};

const tokenIn = (page: string): string => /opl_[A-Za-z0-9]{32}/.exec(page)?.[0] ?? '';

/** A small world that the next requests may break; nobody else uses it. */
export const createWorld = async (portal: Portal): Promise<RenewableWorld> => {
	const acme = await organization(portal, {plan: 'SCALE'});
	const {user, clerkOrgId} = await member(portal, {role: 'owner', organization: acme});
	const {user: other} = await member(portal, {role: 'viewer', organization: acme});
	const operator = ops(portal);
	const base = `/admin/organizations/${acme.id}`;
	const made = await link(acme);
	const [template, channel, domain] = await Promise.all([
		admin(portal).post(`${base}/templates`, {name: 'Spring', path: '/spring'}),
		admin(portal).post(`${base}/channels`, {name: 'tv'}),
		admin(portal).post(`${base}/domains`, {hostname: `h${randomUUID().slice(0, 8)}.example.com`}),
	]);
	const deviceId = `device-${randomUUID()}`;
	await acme.client.post('/sdk/session', {deviceId});
	const visitor = anonymous(portal);
	const page = await visitor.get(`/${acme.orgKey}/${made.shortCode}`);
	await anonymous(portal).post('/match', {deviceId}, {'X-API-Key': acme.clientKey});
	const matches = await admin(portal).get(`${base}/matches`);
	const sessions = {
		session: {user: user.clerkUserId, organization: clerkOrgId},
		ops: {user: operator.clerkUserId, organization: portal.provider.opsOrganization},
	};
	const names: Record<string, string> = {
		organizationId: acme.id,
		orgKey: acme.orgKey,
		serverKey: acme.serverKey,
		clientKey: acme.clientKey,
		adminToken: portal.adminToken,
		userId: other.id,
		linkId: made.id,
		shortCode: made.shortCode,
		templateId: template.body.id,
		channelId: channel.body.id,
		channel: 'tv',
		domainId: domain.body.id,
		deviceId,
		token: tokenIn(page.text),
		matchId: matches.body.data[0]?.id ?? randomUUID(),
		odd: 'opl_api_é"\\',
	};
	return {
		names,
		renew: async () => {
			names['session'] = await portal.provider.token(sessions.session);
			names['ops'] = await portal.provider.token(sessions.ops);
		},
	};
};

/** Replaces names by the world's values, and raw markers by JSON. */
export const filled = (text: string, world: World): string =>
	text
		.replaceAll(/"«raw:((?:[^»\\]|\\.)*)»"/g, (_, json: string) => JSON.parse(`"${json}"`) as string)
		.replaceAll(/«raw:([^»]*)»/g, '$1')
		.replaceAll(/«(\w+)»/g, (_, name: string) => world[name] ?? name);
