import Joi from 'joi';
import {DAY_MS, HOUR_MS} from '../../platform/clock.ts';
import {allScopes, expandScopes, MODERATION, presetNames} from '../../platform/config/operator-scopes.ts';
import {inTransaction} from '../../platform/db/db.ts';
import {required, tokenNotFound, validationFailed} from '../../platform/errors.ts';
import {
	answerOf,
	deletedAnswer,
	instant,
	instantOrNull,
	pageOf,
	partOf,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../../platform/http/answer.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import {packageVersion} from '../../platform/package-root.ts';
import {entriesOf, recordAudit} from '../audit/audit-log.ts';
import {route} from '../auth/route.ts';
import {organizationReference, requireOrganization} from '../organizations/require-organization.ts';
import {createToken, hashOf, requireScope} from './operator-access.ts';
import {createTokenStore} from './token-store.ts';

const tokenFields = {
	id: uuid,
	name: text,
	scopes: Joi.array().items(text),
	organizationId: uuidOrNull,
	createdBy: text,
	createdAt: instant,
	expiresAt: instantOrNull,
	lastUsedOn: textOrNull,
};

const tokenAnswer = answerOf('OperatorToken', tokenFields);

/** The only answer that shows a token. */
const newTokenAnswer = answerOf('NewOperatorToken', {...tokenFields, token: text});

type NewToken = {name: string; scopes: string[]; organization?: string; expires?: string};

const newToken = Joi.object<NewToken>({
	name: sizeFirst.string().min(1).max(100).required(),
	scopes: sizeFirst
		.array()
		.items(Joi.valid(...allScopes, ...presetNames))
		.min(1)
		.max(allScopes.length)
		.unique()
		.required(),
	organization: organizationReference,
	expires: Joi.string()
		.pattern(/^[1-9]\d{0,3}[hd]$/)
		.message('{{#label}} must be a number of hours or days, such as 12h or 90d'),
}).meta({
	schema: {not: {required: ['organization'], properties: {scopes: {contains: {const: MODERATION}}}}},
});

/** When a new token expires. @param creatorExpiry the expiry of the credential that creates it: a token never outlives that. */
const expiryOf = (expires: string | undefined, now: Date, creatorExpiry: Date | null): Date | null => {
	if (expires === undefined) {
		return creatorExpiry;
	}

	const wanted = new Date(now.getTime() + Number.parseInt(expires, 10) * (expires.endsWith('h') ? HOUR_MS : DAY_MS));
	return creatorExpiry !== null && creatorExpiry < wanted ? creatorExpiry : wanted;
};

const entry = entriesOf('OperatorToken');

export const tokenRoutes = [
	route('GET', '/sign-in', {
		summary: 'Identity providers by which operators sign in',
		answer: answerOf('SignIn', {providers: Joi.array().items(partOf({issuer: text, clientId: text}))}),
		credential: 'none',
		handler: ({services}) => ({
			providers: services.config.operatorProviders.flatMap(({issuer, clientId}) =>
				clientId === undefined ? [] : [{issuer, clientId}],
			),
		}),
	}),

	route('GET', '/admin/whoami', {
		summary: 'Get the operator and the grant of the credential',
		answer: answerOf('Operator', {
			name: text,
			id: textOrNull,
			scopes: Joi.array().items(text).allow(null),
			organization: partOf({id: uuid, orgKey: text, name: text}).allow(null),
			version: text,
		}),
		credential: 'admin',
		handler: async ({services, by: {actor}, operator: {scopes, organization}}) => ({
			name: actor.name ?? '',
			id: actor.id,
			scopes,
			organization: organization && {
				...organization,
				name: (await requireOrganization(services, organization.id)).name,
			},
			version: packageVersion(),
		}),
	}),

	route('GET', '/admin/tokens', {
		summary: 'List the tokens of operators, newest first',
		answer: pageOf(tokenAnswer),
		credential: 'admin',
		query: pageQuerySchema,
		handler: ({services, query}) => createTokenStore(services.db).list(query),
	}),

	route('POST', '/admin/tokens', {
		summary: 'Create a token of an operator with scopes',
		description: 'A token creates only tokens with no more scopes than its own, which end no later than itself.',
		refusals: [404, 409],
		answer: newTokenAnswer,
		credential: 'admin',
		body: newToken,
		status: 201,
		handler: async ({services, by, operator, body: {name, scopes: named, organization: reference, expires}}) => {
			const now = services.clock.now();
			if (reference !== undefined && named.includes(MODERATION)) {
				throw validationFailed([
					{
						field: 'scopes',
						message: 'scopes must not name moderation for a token of one organization: leave one of both out',
					},
				]);
			}

			const scopes = expandScopes(named, reference !== undefined);
			for (const scope of scopes) {
				requireScope(operator, scope);
			}

			const organization = reference === undefined ? null : await requireOrganization(services, reference);
			const token = createToken();
			return inTransaction(services.db, async (trx) => {
				const made = await createTokenStore(trx).insert({
					name,
					scopes,
					organizationId: organization?.id ?? null,
					createdBy: by.actor.name ?? '',
					createdAt: now,
					expiresAt: expiryOf(expires, now, operator.expiresAt),
					madeBy: operator.tokenId,
					tokenHash: hashOf(token),
				});
				await recordAudit(trx, now, by, entry('CREATE', made, {name, scopes: named, expiresAt: made.expiresAt}));
				return {...made, token};
			});
		},
	}),

	route('DELETE', '/admin/tokens/:id', {
		summary: 'Revoke a token of an operator, and all tokens created with it, at once',
		refusals: [404],
		answer: deletedAnswer,
		credential: 'admin',
		params: idParams,
		handler: ({services, by, params: {id}}) =>
			inTransaction(services.db, async (trx) => {
				const now = services.clock.now();
				const revoked = await createTokenStore(trx).revoke(id, now);
				required(revoked[0], tokenNotFound);
				await recordAudit(trx, now, by, ...revoked.map((token) => entry('REVOKE', token, {name: token.name})));
				return {id, deleted: true};
			}),
	}),
];
