import type Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import type {OperatorGrant} from '../../platform/config/operator-scopes.ts';
import type {Role} from '../../platform/config/roles.ts';
import {type FieldFault, HttpError, refusal} from '../../platform/errors.ts';
import type {Declared} from '../../platform/http/answer.ts';
import {type Access, type RequestFacts, type RouteOf, routeFor} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';
import type {Caller} from '../audit/audit-log.ts';
import type {Organization} from '../organizations/organization-store.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import type {User} from './access-store.ts';
import {scopeOfRoute} from './route-scopes.ts';
import type {Session} from './session.ts';

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
export type OrganizationEndpoint<G, P, Q, B> = Declared & {
	method: Route['method'];
	/** Below the prefix of the surface. */
	path: string;
	/** Parameters of the path. */
	params?: Joi.ObjectSchema<P>;
	query?: Joi.Schema<Q>;
	body?: Joi.Schema<B> | 'stream';
	status?: number;
	settles?: boolean;
	/** As a route's. */
	storedFaults?: (
		input: G & {services: Services; body: unknown; faults: readonly FieldFault[]},
	) => Promise<FieldFault[]>;
	handler: (input: G & {services: Services; request: RequestFacts; params: P; query: Q; body: B}) => unknown;
};

/** The handler's input on every surface. */
export type OfAnySurface = Pick<Granted['session'], 'organization' | 'by'>;

/** Declares an endpoint of the operator: `/admin/organizations/:orgId…` with the admin token. */
export const adminRoute = <P extends object = object, Q = unknown, B = unknown>({
	path,
	params,
	handler,
	storedFaults,
	...shared
}: OrganizationEndpoint<OfAnySurface, P, Q, B>): Route =>
	route<'admin', {orgId: string} & P, Q, B>({
		...shared,
		path: `/admin/organizations/:orgId${path}`,
		credential: 'admin',
		params: (params === undefined ? orgParams : orgParams.concat(params as Joi.ObjectSchema)) as Joi.ObjectSchema<
			{orgId: string} & P
		>,
		storedFaults:
			storedFaults &&
			(async (input) => {
				// An unknown organization is refused after bad values (contract/requests 9).
				const organization = await requireOrganization(input.services, input.params.orgId).catch(refusal);
				return organization instanceof HttpError ? [] : storedFaults({...input, organization});
			}),
		handler: async (input) =>
			handler({...input, organization: await requireOrganization(input.services, input.params.orgId)}),
	});

/** Declares an endpoint of members: `/portal…` with a session. */
export const portalRoute = <P extends object = object, Q = unknown, B = unknown>({
	path,
	...shared
}: OrganizationEndpoint<Granted['session'], P, Q, B> & Access<'session'> & {onboarding?: boolean}): Route =>
	route({limit: limits.portal, ...shared, path: `/portal${path}`, credential: 'session'});

/**
 * Declares an endpoint that operators and members share.
 * @param portalPath its path below `/portal`, if it is another one.
 */
export const organizationRoute = <P extends object = object, Q = unknown, B = unknown>({
	role,
	portalPath,
	...shared
}: OrganizationEndpoint<OfAnySurface, P, Q, B> & {role: Role; portalPath?: string}): [admin: Route, portal: Route] => [
	adminRoute(shared),
	portalRoute({...shared, path: portalPath ?? shared.path, role}),
];
