import {Readable} from 'node:stream';
import Joi from 'joi';
import {admit, type Credential, type Granted} from '../../accounts/admission.ts';
import {isSuspended} from '../../accounts/organizations/require-organization.ts';
import {scopeOfRoute} from '../../accounts/tokens/route-scopes.ts';
import type {Services} from '../../services.ts';
import type {Scope} from '../config/operator-scopes.ts';
import type {Role} from '../config/roles.ts';
import {type FieldFault, validationFailed} from '../errors.ts';
import {enforceLimit} from '../limits/enforce-limit.ts';
import {type Limit, limitSubjectOf} from '../limits/limits.ts';
import type {Declared} from './answer.ts';
import {mayExceed, readJsonBody, readRawBody} from './body.ts';
import type {Exchange} from './exchange.ts';
import {watchLongAnswer} from './long-answer.ts';
import {type Query, readQuery} from './query.ts';
import {type RequestFacts, requestFacts} from './request-facts.ts';
import {checkBody, checkUrlPart} from './validate.ts';

export type {RequestFacts} from './request-facts.ts';

/** The bytes of a webhook's body; other routes get it parsed, or as a stream. */
type RawBody<C extends Credential> = C extends 'signature' ? {rawBody: Buffer} : unknown;

type HandlerInput<C extends Credential, P, Q, B> = Granted[C] &
	RawBody<C> & {
		services: Services;
		request: RequestFacts;
		params: P;
		query: Q;
		body: B;
	};

/** An answer that is not plain JSON with the route's status. */
export class Reply {
	constructor(
		readonly parts: {status?: number; headers?: Record<string, string>; body?: string | Buffer | Readable | object},
	) {}
}
export const reply = (parts: Reply['parts']): Reply => new Reply(parts);

/** Who may use a route, and how often. */
export type Access<C extends Credential> = {
	/** Least role of a session; absent: any. */
	role?: C extends 'user' | 'session' ? Role : never;
	/** Absent: unlimited. */
	limit?: Limit;
};

type Definition<C extends Credential, P, Q, B> = Declared &
	Access<C> & {
		method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
		path: string;
		/** Required: a public route says 'none'. */
		credential: C;
		/**
		 * Pending sessions pass, and an organization that is not mirrored yet is fetched (contract/identity 11).
		 */
		onboarding?: C extends 'session' ? boolean : never;
		params?: Joi.Schema<P>;
		query?: Joi.Schema<Q>;
		/** The schema of a JSON body, or 'stream' where the handler reads the body itself. */
		body?: Joi.Schema<B> | 'stream';
		/**
		 * Faults of a body that only the database shows. Asked for where the body has others, so that the answer names all.
		 */
		storedFaults?:
			| ((input: HandlerInput<C, P, Q, unknown> & {faults: readonly FieldFault[]}) => Promise<FieldFault[]>)
			| undefined;
		/** Answer any origin (contract/hosts 6). */
		cors?: boolean;
		/** The operation itself waits until every process shows its write (`ChangeFeed`). */
		settles?: boolean;
		/** Status of a plain answer; default 200. */
		status?: number;
		handler: (input: HandlerInput<C, P, Q, B>) => unknown;
	};

/** One endpoint as the API document describes it and tests enumerate it. */
export type DeclaredRoute = {
	method: Definition<Credential, unknown, unknown, unknown>['method'];
	path: string;
	credential: Credential;
	role: Role | null;
	/** What an operator's token needs; null: nothing more than being valid. */
	scope: Scope | null;
	cors: boolean;
	limit: Limit | null;
	/** Status of a plain answer. */
	status: number;
	declared: Declared;
	schemas: {params: Joi.Schema | null; query: Joi.Schema | null; body: Joi.Schema | 'stream' | null};
};

/** One endpoint, as `routes.ts` lists it and `app.ts` mounts it. */
export type Route = DeclaredRoute & {respond: (ctx: Exchange, services: Services) => Promise<void>};

/** Declares an endpoint without its handler. */
export const declareRoute = <C extends Credential>(
	definition: Omit<Definition<C, unknown, unknown, unknown>, 'handler'>,
): DeclaredRoute => {
	const {method, path, credential, role, limit, params, query, body, cors, status} = definition;
	return {
		method,
		path,
		credential,
		role: role ?? null,
		scope: credential === 'admin' ? scopeOfRoute(method, path) : null,
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

/** The result for a part that a route does not declare. */
const nothing = {value: {}, faults: []};

/**
 * Declares an endpoint. This function sets the order of checks for every route (contract/requests 8 and 9): credential
 * (401) → suspension, tier, feature, role (401, 403) → limit (429) → organization and membership of a session (403) →
 * body (413, 415, 400) → params, query and body values (400) → the handler, whose operation checks plan, quota,
 * references and conflicts.
 */
export const route = <C extends Credential, P = unknown, Q = unknown, B = unknown>(
	definition: Definition<C, P, Q, B>,
): Route => {
	const {
		method,
		credential,
		onboarding = false,
		limit,
		params,
		query,
		body,
		handler,
		settles = false,
		storedFaults,
	} = definition;
	const declared = declareRoute(definition as Omit<Definition<C, unknown, unknown, unknown>, 'handler'>);
	const {role, scope, status} = declared;
	const bodySchema = body === 'stream' ? undefined : body;
	const isOfSession = credential === 'session';

	return {
		...declared,
		respond: async (ctx, services) => {
			const facts = requestFacts(ctx, services);
			// Read on first use: not for a caller without a credential, or over a limit.
			let read: Query | null = null;
			const queryOf = (): Query => {
				read ??= readQuery(ctx.req.url);
				return read;
			};
			const orgId = (): string | null => {
				const named = isOfSession ? queryOf()['orgId'] : ctx.params?.['orgId'];
				return named === undefined ? null : String(named);
			};
			const presented = {authorization: ctx.req.headers.authorization, orgId, requestId: facts.requestId};
			const rule = {role, onboarding, scope};
			const {subject, owner, grant} = await admit(services, credential, presented, rule);
			if (limit !== undefined && mayExceed(ctx.req, limit.aboveBytes)) {
				const counted = {subject: subject ?? limitSubjectOf(facts.ip), owner};
				await enforceLimit(services, limit, counted);
			}

			const granted = await grant();
			const rawBody = credential === 'signature' ? await readRawBody(ctx.req) : undefined;
			const sent = bodySchema === undefined ? {} : await readJsonBody(ctx.req);
			const ofPath = params === undefined ? nothing : checkUrlPart<P>(params, ctx.params ?? {});
			const ofQuery = query === undefined ? nothing : checkUrlPart<Q>(query, queryOf());
			const ofBody = bodySchema === undefined ? nothing : checkBody<B>(bodySchema, sent, services.addresses);
			// All faults at once, of every part of the request (contract/requests 3).
			const faults = [...ofPath.faults, ...ofQuery.faults, ...ofBody.faults];
			const input = {
				...granted,
				rawBody,
				services,
				request: facts,
				params: ofPath.value,
				query: ofQuery.value,
				body: ofBody.value,
			};
			if (faults.length > 0) {
				const isOfBody = ofBody.faults.length === faults.length;
				const asked = {...input, body: sent, faults} as unknown as HandlerInput<C, P, Q, unknown> & {
					faults: FieldFault[];
				};
				throw validationFailed([...faults, ...((isOfBody && (await storedFaults?.(asked))) || [])]);
			}

			const answer = await handler(input as unknown as HandlerInput<C, P, Q, B>);
			// Once a write is answered, every process must show it (docs/internals.md).
			if (method !== 'GET' && writers.has(credential) && !settles) {
				await services.changes.settled();
			}

			if (answer instanceof Reply && answer.parts.body instanceof Readable) {
				const named = ctx.params?.['orgId'] ?? queryOf()['orgId'];
				watchLongAnswer(answer.parts.body, ctx, {
					clock: services.clock,
					// A session lasts a minute, and an export longer: only its membership is looked at again.
					again: () => (isOfSession ? grant() : admit(services, credential, presented, rule)),
					isSuspended: () => isSuspended(services, named === undefined ? undefined : String(named)),
				});
			}

			send(ctx, status, answer);
		},
	};
};

/** A query parameter that means true or false. */
export const booleanQuery = Joi.boolean().sensitive();
