import {randomUUID} from 'node:crypto';
import {matchTokenIn} from '../../src/visits/matches/open-match.ts';
import {link, organization} from '../helpers/builders.ts';
import {admin, anonymous} from '../helpers/callers.ts';
import {member, ops, type Portal} from '../helpers/portal.ts';

/** Records that requests can name, by the names of `_values.ts`. */
export type World = Record<string, string>;

/** `renew` creates new sessions, because sessions end after a minute. */
export type RenewableWorld = {names: World; renew(): Promise<void>};

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
	const page = await anonymous(portal).get(`/${acme.orgKey}/${made.shortCode}`);
	await anonymous(portal).post('/match', {deviceId}, {'X-API-Key': acme.clientKey});
	const matches = await admin(portal).get(`${base}/matches`);
	const {token, opsOrganization} = portal.provider;
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
		token: matchTokenIn(page.text) ?? '',
		matchId: matches.body.data[0]?.id ?? randomUUID(),
		odd: 'opl_api_é"\\',
	};
	return {
		names,
		renew: async () => {
			names['session'] = await token({user: user.clerkUserId, organization: clerkOrgId});
			names['ops'] = await token({user: operator.clerkUserId, organization: opsOrganization});
		},
	};
};

/** Replaces names by the world's values, and raw markers by JSON. */
export const filled = (text: string, world: World): string =>
	text
		.replaceAll(/"«raw:((?:[^»\\]|\\.)*)»"/g, (_, json: string) => JSON.parse(`"${json}"`) as string)
		.replaceAll(/«raw:([^»]*)»/g, '$1')
		.replaceAll(/«(\w+)»/g, (_, name: string) => world[name] ?? name);
