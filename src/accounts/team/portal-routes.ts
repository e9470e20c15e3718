import Joi from 'joi';
import type {Role} from '../../platform/config/roles.ts';
import {
	answerOf,
	deletedAnswer,
	instant,
	instantOrNull,
	pageOf,
	text,
	textOrNull,
	uuid,
} from '../../platform/http/answer.ts';
import {pageQuerySchema, uuidParam} from '../../platform/http/validate.ts';
import {portalRoute} from '../auth/route.ts';
import {inviteMember, listInvitations, newInvitation, revokeInvitation} from './invitation-operations.ts';
import {changeMemberRole, listMembers, removeMember} from './member-operations.ts';
import {roleField} from './member-store.ts';

const role = Joi.valid('VIEWER', 'ANALYST', 'DEVELOPER', 'ADMIN', 'OWNER');

// The shapes of contract/portal 1.
const memberAnswer = answerOf('Member', {
	userId: uuid,
	email: textOrNull,
	name: textOrNull,
	role,
	joinedAt: instant,
});
const removedMemberAnswer = answerOf('RemovedMember', {userId: uuid, deleted: Joi.valid(true)});
const invitationAnswer = answerOf('Invitation', {
	id: text,
	email: text,
	role,
	status: text,
	createdAt: instant,
	expiresAt: instantOrNull,
});

const memberParams = Joi.object<{userId: string}>({userId: uuidParam});
/** The provider's id of an invitation. */
const invitationParams = Joi.object<{id: string}>({
	id: Joi.string()
		.pattern(/^[A-Za-z0-9_-]{1,255}$/)
		.required()
		.messages({'string.pattern.base': '{{#label}} must be the id of an invitation'}),
});
const memberChanges = Joi.object<{role: Role}>({role: roleField});

export const portalTeamRoutes = [
	portalRoute('GET', '/team', {
		summary: 'List members',
		answer: pageOf(memberAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listMembers(services, {organization, query}),
	}),

	portalRoute('GET', '/team/invitations', {
		summary: 'List open invitations, newest first',
		answer: pageOf(invitationAnswer),
		role: 'viewer',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => listInvitations(services, {organization, query}),
	}),

	portalRoute('POST', '/team/invitations', {
		summary: 'Invite a person',
		refusals: [402, 409],
		answer: invitationAnswer,
		role: 'admin',
		body: newInvitation,
		status: 201,
		handler: ({services, organization, by, session, body}) =>
			inviteMember(services, {organization, by, session, fields: body}),
	}),

	portalRoute('DELETE', '/team/invitations/:id', {
		summary: 'Revoke an invitation',
		refusals: [409],
		answer: deletedAnswer,
		role: 'admin',
		params: invitationParams,
		handler: ({services, organization, by, session, params: {id}}) =>
			revokeInvitation(services, {organization, by, session, id}),
	}),

	portalRoute('PATCH', '/team/:userId', {
		summary: 'Change the role of a member',
		refusals: [409],
		answer: memberAnswer,
		role: 'admin',
		params: memberParams,
		body: memberChanges,
		handler: ({services, organization, by, session, params: {userId}, body: {role}}) =>
			changeMemberRole(services, {organization, by, session, userId, role}),
	}),

	portalRoute('DELETE', '/team/:userId', {
		summary: 'Remove a member',
		refusals: [409],
		answer: removedMemberAnswer,
		role: 'admin',
		params: memberParams,
		handler: ({services, organization, by, session, params: {userId}}) =>
			removeMember(services, {organization, by, session, userId}),
	}),
];
