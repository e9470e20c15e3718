import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import {Readable} from 'node:stream';
import type Joi from 'joi';
import type {Logger} from 'pino';
import type {Services} from '../../services.ts';
import {notingRefusals, type OrganizationOf, type SeenRequest} from '../app-requests/note-refusal.ts';
import {type Limit, limitSubjectOf} from '../config/limits.ts';
import type {Scope} from '../config/operator-scopes.ts';
import type {Role} from '../config/roles.ts';
import {type FieldFault, validationFailed} from '../errors.ts';
import {enforceLimit} from '../limits/enforce-limit.ts';
import {type Query, readQuery} from '../query.ts';
import type {Admission, CallerData, Credential, Grants} from './admission.ts';
import type {RouteDescription} from './answer.ts';
import {mayExceed, readJsonBody, readRawBody} from './body.ts';
import type {Exchange} from './envelope.ts';
import {watchLongAnswer} from './long-answer.ts';
import {type Checked, checkBody, checkUrlPart} from './validate.ts';

/** The parts of the request that a handler may read besides the validated ones. */
export type RequestFacts = {
	/** The caller's address, behind trusted proxies. */
	ip: string;
	/** The requested host name, lower case and without port; null if none was sent. */
	hostname: string | null;
	headers: IncomingHttpHeaders;
	/** The path as sent, without the query. */
	path: string;
	isHead: boolean;
	/** The incoming body, for routes with `body: 'stream'`. */
	stream: IncomingMessage;
	requestId: string;
	/** Ends with the connection, and after the answer. */
	hungUp: () => AbortSignal;
	/** The log with the request's id. */
	log: () => Logger;
};

const requestFacts = (ctx: Exchange, {clientIp}: Services): RequestFacts => ({
	ip: clientIp.ip(ctx.req),
	hostname: clientIp.hostname(ctx.req),
	headers: ctx.req.headers,
	path: ctx.path,
	isHead: ctx.method === 'HEAD',
	stream: ctx.req,
	requestId: ctx.state.requestId,
	hungUp: () => {
		const ended = new AbortController();
		ctx.res.once('close', () => ended.abort());
		if (ctx.res.destroyed || ctx.req.socket.destroyed) {
			ended.abort();
		}

		return ended.signal;
	},
	log: ctx.state.log,
});

type HandlerInput<T, P, Q, B> = T & {services: Services; request: RequestFacts; params: P; query: Q; body: B};

/** An answer that is not plain JSON with the route's status. */
export class Reply {
	constructor(
		readonly parts: {status?: number; headers?: Record<string, string>; body?: string | Buffer | Readable | object},
	) {}
}
export const reply = (parts: Reply['parts']): Reply => new Reply(parts);

/** The texts of a long answer. A fault is logged and breaks the connection: a partial answer must not look complete. */
export async function* withLoggedFault(request: RequestFacts, name: string, texts: AsyncIterable<string>) {
	try {
		yield* texts;
	} catch (error) {
		request.log().error({err: error}, `${name} ended early`);
		throw error;
	}
}

/** The callers that may use a route, and how often. */
export type Access<C extends Credential> = {
	/** Lowest role of a session; absent: any. */
	role?: C extends 'user' | 'session' ? Role : never;
	/** Absent: unlimited. */
	limit?: Limit;
};

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Declaration<C extends Credential, P, Q, B> = RouteDescription &
	Access<C> & {
		/** Required: a public route says 'none'. */
		credential: C;
		params?: Joi.Schema<P>;
		query?: Joi.Schema<Q>;
		/** The schema of a JSON body, or 'stream' if the handler reads the body itself. */
		body?: Joi.Schema<B> | 'stream';
		/** Answer any origin (contract/hosts 6). */
		cors?: boolean;
		/** Status of a plain answer; default 200. */
		status?: number;
	};

type Definition<G extends Grants, C extends Credential, P, Q, B> = Declaration<C, P, Q, B> & {
	/** Pending sessions pass, and an organization that is not mirrored yet is fetched (contract/identity 11). */
	onboarding?: C extends 'session' ? boolean : never;
	/** Faults of a body that only the database shows. Called if the body has other faults, so the answer names all. */
	databaseFaults?:
		| ((input: HandlerInput<G[C], P, Q, unknown> & {faults: readonly FieldFault[]}) => Promise<FieldFault[]>)
		| undefined;
	/** The organization of a public request with invalid values: `app status --watch` shows the refusal. */
	organizationOf?: OrganizationOf;
	/** The operation itself waits until every process shows its write (`ChangeFeed`). */
	settles?: boolean;
	handler: (input: HandlerInput<G[C], P, Q, B>) => unknown;
};

/** One endpoint as the API document describes it and tests enumerate it. */
export type DeclaredRoute = {
	method: Method;
	path: string;
	credential: Credential;
	role: Role | null;
	/** The scope that an operator's token needs; null for any valid token. */
	scope: Scope | null;
	cors: boolean;
	limit: Limit | null;
	/** Status of a plain answer. */
	status: number;
	declared: RouteDescription;
	schemas: {params: Joi.Schema | null; query: Joi.Schema | null; body: Joi.Schema | 'stream' | null};
};

/** One endpoint, as `routes.ts` lists it and `app.ts` mounts it. `G`: the values that each credential grants. */
export type RouteOf<G extends Grants> = DeclaredRoute & {
	respond: (ctx: Exchange, services: Services, admission: Admission<G>) => Promise<void>;
};

/** Declares an endpoint without its handler. */
export const declareRoute = <C extends Credential, P, Q, B>(
	method: Method,
	path: string,
	definition: Declaration<C, P, Q, B>,
	scope: Scope | null = null,
): DeclaredRoute => {
	const {credential, role, limit, params, query, body, cors, status} = definition;
	return {
		method,
		path,
		credential,
		role: role ?? null,
		scope,
		cors: cors ?? false,
		limit: limit ?? null,
		status: status ?? (definition.answer === null ? 204 : 200),
		declared: definition,
		schemas: {params: params ?? null, query: query ?? null, body: body ?? null},
	};
};

const send = (ctx: Exchange, status: number, answer: unknown): void => {
	if (!(answer instanceof Reply)) {
		ctx.status = status;
		ctx.body = answer;
		return;
	}

	const {parts} = answer;
	ctx.status = parts.status ?? status;
	ctx.body = parts.body ?? null;
	// Koa turns a null body into 204 and guesses a type from the body, so both are set after it.
	ctx.status = parts.status ?? status;
	ctx.set(parts.headers ?? {});
};

/** Credentials whose requests may change what links resolve to; those of devices and visitors do not. */
const writers: ReadonlySet<Credential> = new Set(['user', 'session', 'ops', 'serverKey', 'admin', 'signature']);

/** A part of the request, checked if the route declares a schema of it. */
const checkedIf = <T, S>(schema: S | undefined, check: (schema: S) => Checked<T>): Checked<T> =>
	schema === undefined ? {value: {} as T, faults: []} : check(schema);

/**
 * Binds `route` to the values `G` that each credential grants.
 * @param scopeOf the scope that a route of operators needs.
 */
export const routeFor =
	<G extends Grants>(scopeOf: (method: string, path: string) => Scope | null) =>
	/**
	 * Declares an endpoint. This function sets the order of checks for every route (contract/requests 8 and 9):
	 * credential (401) → suspension, tier, feature, role (401, 403) → limit (429) → organization and membership of a
	 * session (403) → body (413, 415, 400) → params, query and body values (400) → the handler, whose operation checks
	 * plan, quota, references and conflicts.
	 */
	<C extends Credential, P = unknown, Q = unknown, B = unknown>(
		method: Method,
		path: string,
		definition: Definition<G, C, P, Q, B>,
	): RouteOf<G> => {
		const {credential, limit, params, query, body, handler, databaseFaults} = definition;
		const declared = declareRoute(method, path, definition, credential === 'admin' ? scopeOf(method, path) : null);
		const rule = {role: declared.role, onboarding: definition.onboarding ?? false, scope: declared.scope};
		const bodySchema = body === 'stream' ? undefined : body;
		const isOfSession = credential === 'session';

		/** @param seen is filled in as the request is read. */
		const serve = async (
			ctx: Exchange,
			services: Services,
			admission: Admission<G>,
			seen: SeenRequest,
		): Promise<void> => {
			const request = requestFacts(ctx, services);
			// Read on first use: not for a caller without a credential, or over a limit.
			let read: Query | null = null;
			const queryOf = (): Query => {
				read ??= readQuery(ctx.req.url);
				return read;
			};
			const named = (inQuery: boolean): string | null => {
				const orgId = inQuery ? queryOf()['orgId'] : ctx.params?.['orgId'];
				return orgId === undefined ? null : String(orgId);
			};
			const caller: CallerData = {
				authorization: ctx.req.headers.authorization,
				orgId: () => named(isOfSession),
				requestId: request.requestId,
				userAgent: request.headers['user-agent'],
				rawBody: () => readRawBody(ctx.req),
			};
			const admit = () => admission.admit[credential](services, caller, rule);
			const {subject, owner, grant} = await admit();
			if (owner !== null) {
				seen.organizationId = owner.organizationId;
			}

			if (limit !== undefined && mayExceed(ctx.req, limit.aboveBytes)) {
				await enforceLimit(services, limit, {subject: subject ?? limitSubjectOf(request.ip), owner});
			}

			const granted = await grant();
			const sent = bodySchema === undefined ? {} : await readJsonBody(ctx.req);
			seen.body = sent;
			const ofPath = checkedIf<P, Joi.Schema<P>>(params, (schema) => checkUrlPart(schema, ctx.params ?? {}));
			const ofQuery = checkedIf<Q, Joi.Schema<Q>>(query, (schema) => checkUrlPart(schema, queryOf()));
			const ofBody = checkedIf<B, Joi.Schema<B>>(bodySchema, (schema) => checkBody(schema, sent, services.bodyContext));
			const input = {...granted, services, request, params: ofPath.value, query: ofQuery.value, body: ofBody.value};
			// All faults at once, of every part of the request (contract/requests 3).
			const faults = [...ofPath.faults, ...ofQuery.faults, ...ofBody.faults];
			if (faults.length > 0) {
				const isOfBody = ofBody.faults.length === faults.length;
				const stored = isOfBody ? await databaseFaults?.({...input, body: sent, faults}) : undefined;
				throw validationFailed([...faults, ...(stored ?? [])]);
			}

			const answer = await handler(input);
			// Once a write is answered, every process must show it (docs/internals.md).
			if (method !== 'GET' && writers.has(credential) && definition.settles !== true) {
				await services.changes.settled();
			}

			if (answer instanceof Reply && answer.parts.body instanceof Readable) {
				const organization = named(false) ?? named(true);
				watchLongAnswer(answer.parts.body, ctx, {
					clock: services.clock,
					// A session lasts a minute, and an export longer: only its membership is checked again.
					again: isOfSession ? grant : admit,
					isSuspended: async () => organization !== null && (await admission.isSuspended(services, organization)),
				});
			}

			send(ctx, declared.status, answer);
		};

		const respond: RouteOf<G>['respond'] = (ctx, services, admission) =>
			notingRefusals(
				services,
				{headers: ctx.req.headers, isOfApp: credential === 'clientKey', organizationOf: definition.organizationOf},
				(seen) => serve(ctx, services, admission, seen),
			);

		return {...declared, respond};
	};
