import Joi from 'joi';
import type {Caller} from '../../accounts/audit/audit-log.ts';
import {createAccessStore} from '../../accounts/auth/access-store.ts';
import {route} from '../../accounts/auth/route.ts';
import type {Session} from '../../accounts/auth/session.ts';
import {organizationAnswer} from '../../accounts/organizations/organization-schemas.ts';
import {organizationJson} from '../../accounts/organizations/organization-store.ts';
import {limits} from '../../platform/config/limits.ts';
import {answerOf, anyObject, flag, partOf, text, textOrNull, uuid} from '../../platform/http/answer.ts';
import type {Services} from '../../services.ts';
import {matchBody, organizationOfKey} from '../../visits/matches/first-open.ts';
import {matchFields, missFields, unkeptAttemptAnswer} from '../../visits/matches/match-answer.ts';
import {dryRun, dryRunMatch} from '../../visits/simulation/dry-run.ts';

const attempt = unkeptAttemptAnswer.allow(null);

/** The answer of `/match` and its explanation. */
const dryRunAnswer = Joi.alternatives(
	answerOf('DryRunMatch', {...matchFields, attempt}),
	answerOf('DryRunNoMatch', {...missFields, attempt}),
);

const sessionAnswer = answerOf('ResolvedSession', {
	claims: anyObject,
	session: partOf({
		userId: text,
		organizationId: textOrNull,
		role: Joi.valid('viewer', 'analyst', 'developer', 'admin', 'owner').allow(null),
		email: textOrNull,
		isPending: flag,
		isOps: flag,
	}),
	actor: partOf({type: text, id: textOrNull, name: textOrNull}),
	organization: organizationAnswer.allow(null),
	user: partOf({id: uuid, email: textOrNull, name: textOrNull}).allow(null),
	isMember: flag,
});

/**
 * The contents of a session token and the records it resolves to: the actor of audit records, and the mirrored
 * organization and person, each null if not mirrored.
 */
const resolveSession = async ({db}: Pick<Services, 'db'>, {claims, ...session}: Session, {actor}: Caller) => {
	const store = createAccessStore(db);
	const {organizationId, userId} = session;
	const mirrored = organizationId === null ? null : await store.findMembership({organizationId, userId});
	return {
		claims,
		session,
		actor,
		organization: mirrored === null ? null : organizationJson(mirrored.organization),
		user: await store.findUser(userId),
		isMember: mirrored?.member != null,
	};
};

/** The sandbox of the ops organization (contract/portal 9). */
export const devRoutes = [
	route('GET', '/dev/session', {
		summary: 'Show the claims of a session and what they resolve to',
		answer: sessionAnswer,
		credential: 'ops',
		limit: limits.portal,
		handler: ({services, session, by}) => resolveSession(services, session, by),
	}),

	route('POST', '/dev/match', {
		summary: 'Dry-run a match',
		headers: {'X-API-Key': 'A CLIENT key limits guesses to its organization and attributes misses to it.'},
		answer: dryRunAnswer,
		credential: 'ops',
		limit: limits.portal,
		body: matchBody,
		// Consumes no click, records no attempt and registers no device.
		handler: ({services, request, body}) =>
			dryRun(services, async (dry) => {
				const organization = await organizationOfKey(dry, request.headers);
				const {answer, attempt} = await dryRunMatch(dry, {fields: body, ip: request.ip, organization});
				return {...answer, attempt};
			}),
	}),
];
