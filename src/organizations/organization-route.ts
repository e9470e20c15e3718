import type Joi from 'joi';
import type {Granted} from '../auth/admission.ts';
import type {Role} from '../auth/roles.ts';
import type {Declared} from '../http/answer.ts';
import {type Route, route} from '../http/route.ts';
import {limits} from '../limits/limits.ts';
import type {Services} from '../services.ts';
import {orgParams, requireOrganization} from './require-organization.ts';

type Definition<P, Q, B> = Declared & {
	method: Route['method'];
	/** Below `/admin/organizations/:orgId` and below `/portal`. */
	path: string;
	/** The least role of a member; an operator needs none. */
	role: Role;
	/** Parameters of the path. */
	params?: Joi.ObjectSchema<P>;
	query?: Joi.Schema<Q>;
	body?: Joi.Schema<B>;
	status?: number;
	handler: (
		input: Pick<Granted['session'], 'organization' | 'by'> & {services: Services; params: P; query: Q; body: B},
	) => unknown;
};

/**
 * Declares an endpoint that operators and members share: `/admin/organizations/:orgId/…` with the admin token, which
 * names any organization, and `/portal/…` with a session of `role`, which has its own.
 */
export const organizationRoute = <P extends object = object, Q = unknown, B = unknown>({
	path,
	role,
	params,
	handler,
	...shared
}: Definition<P, Q, B>): [admin: Route, portal: Route] => [
	route({
		...shared,
		path: `/admin/organizations/:orgId${path}`,
		credential: 'admin',
		params: (params === undefined ? orgParams : orgParams.concat(params as Joi.ObjectSchema)) as Joi.ObjectSchema<
			{orgId: string} & P
		>,
		handler: async (input) =>
			handler({...input, organization: await requireOrganization(input.services, input.params.orgId)}),
	}),
	route({
		...shared,
		path: `/portal${path}`,
		credential: 'session',
		role,
		limit: limits.portal,
		...(params === undefined ? {} : {params}),
		handler,
	}),
];
