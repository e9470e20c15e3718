import type Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import {type Area, MODERATION, type OperatorGrant, type Scope} from '../../platform/config/operator-scopes.ts';
import type {Role} from '../../platform/config/roles.ts';
import {type FieldFault, HttpError, refusal} from '../../platform/errors.ts';
import type {RouteDescription} from '../../platform/http/answer.ts';
import {type Access, type Method, type RequestFacts, type RouteOf, routeFor} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import type {User} from './access-store.ts';
import type {Session} from './session.ts';

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
		throw new Error(`${method} ${path} has no scope: add its area`);
	}

	return area === MODERATION ? area : `${area}:${method === 'GET' || READING.has(path) ? 'read' : 'write'}`;
};

/** The values that each kind of credential provides to a handler. */
export type Granted = {
	none: {by: Caller};
	/** A signed-in person, perhaps without an organization yet. */
	user: {by: Caller; session: Session};
	/** A member of an organization; `user` is null for an ops session that is not mirrored. */
	session: {by: Caller; session: Session; organization: Organization; user: User | null};
	/** A session of the ops organization. */
	ops: {by: Caller; session: Session};
	serverKey: {by: Caller; organization: Organization};
	clientKey: {by: Caller; organization: Organization};
	/** An operator, with the grant of the credential. */
	admin: {by: Caller; operator: OperatorGrant};
	/** A webhook: the handler verifies the signature over the body's bytes. */
	signature: {by: Caller; rawBody: Buffer};
};

export type Route = RouteOf<Granted>;

/** Declares an endpoint. */
export const route = routeFor<Granted>(scopeOfRoute);

/** An endpoint whose handler gets an organization, and the values `G` of its credential. */
export type OrganizationEndpoint<G, P, Q, B> = RouteDescription & {
	/** Parameters of the path. */
	params?: Joi.ObjectSchema<P>;
	query?: Joi.Schema<Q>;
	body?: Joi.Schema<B> | 'stream';
	status?: number;
	settles?: boolean;
	/** As in `route()`. */
	databaseFaults?: (
		input: G & {services: Services; body: unknown; faults: readonly FieldFault[]},
	) => Promise<FieldFault[]>;
	handler: (input: G & {services: Services; request: RequestFacts; params: P; query: Q; body: B}) => unknown;
};

/** The handler's input on every surface. */
export type SharedInput = Pick<Granted['session'], 'organization' | 'by'>;

/** Declares an endpoint of the operator: `/admin/organizations/:orgId…` with the admin token. @param path below that. */
export const adminRoute = <P extends object = object, Q = unknown, B = unknown>(
	method: Method,
	path: string,
	{params, handler, databaseFaults, ...shared}: OrganizationEndpoint<SharedInput, P, Q, B>,
): Route =>
	route<'admin', {orgId: string} & P, Q, B>(method, `/admin/organizations/:orgId${path}`, {
		...shared,
		credential: 'admin',
		params: (params === undefined ? orgParams : orgParams.concat(params as Joi.ObjectSchema)) as Joi.ObjectSchema<
			{orgId: string} & P
		>,
		databaseFaults:
			databaseFaults &&
			(async (input) => {
				// An unknown organization is refused after bad values (contract/requests 9).
				const organization = await requireOrganization(input.services, input.params.orgId).catch(refusal);
				return organization instanceof HttpError ? [] : databaseFaults({...input, organization});
			}),
		handler: async (input) =>
			handler({...input, organization: await requireOrganization(input.services, input.params.orgId)}),
	});

/** Declares an endpoint of members: `/portal…` with a session. @param path below that. */
export const portalRoute = <P extends object = object, Q = unknown, B = unknown>(
	method: Method,
	path: string,
	endpoint: OrganizationEndpoint<Granted['session'], P, Q, B> & Access<'session'> & {onboarding?: boolean},
): Route => route(method, `/portal${path}`, {limit: limits.portal, ...endpoint, credential: 'session'});

/**
 * Declares an endpoint that operators and members share.
 * @param portalPath its path below `/portal`, if it is another one.
 */
export const organizationRoute = <P extends object = object, Q = unknown, B = unknown>(
	method: Method,
	path: string,
	{role, portalPath = path, ...shared}: OrganizationEndpoint<SharedInput, P, Q, B> & {role: Role; portalPath?: string},
): [admin: Route, portal: Route] => [
	adminRoute(method, path, shared),
	portalRoute(method, portalPath, {...shared, role}),
];
