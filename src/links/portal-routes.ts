import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {idParams} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {createLink} from './create-link.ts';
import {deleteLink} from './delete-link.ts';
import {idempotencyKeyOf} from './idempotent-create.ts';
import {idempotencyHeader, linkAnswer, linkWithDomainAnswer, qrAnswers} from './link-answer.ts';
import {linkChanges, linkListQuery, newLink} from './link-schemas.ts';
import {qrQuery, qrReply} from './qr/qr.ts';
import {getLink, listLinks} from './read-links.ts';
import {updateLink} from './update-link.ts';

export const portalLinkRoutes = [
	route({
		method: 'GET',
		path: '/portal/links',
		summary: 'List links, newest first',
		answer: pageOf(linkWithDomainAnswer),
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		query: linkListQuery,
		handler: ({services, organization, query}) => listLinks(services, {organization, query}),
	}),

	route({
		method: 'POST',
		path: '/portal/links',
		summary: 'Create a link',
		refusals: [402, 409, 428],
		headers: idempotencyHeader,
		answer: linkAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		body: newLink,
		status: 201,
		settles: true,
		handler: ({services, organization, by, body, request}) =>
			createLink(services, {organization, by, fields: body, idempotencyKey: idempotencyKeyOf(request.headers)}),
	}),

	route({
		method: 'GET',
		path: '/portal/links/:id',
		summary: 'Get a link',
		answer: linkWithDomainAnswer,
		credential: 'session',
		role: 'viewer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, params}) => getLink(services, {organization, id: params.id}),
	}),

	route({
		method: 'PATCH',
		path: '/portal/links/:id',
		summary: 'Change a link',
		refusals: [402, 409],
		answer: linkAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		params: idParams,
		body: linkChanges,
		handler: ({services, organization, by, params, body}) =>
			updateLink(services, {organization, by, id: params.id, changes: body}),
	}),

	route({
		method: 'DELETE',
		path: '/portal/links/:id',
		summary: 'Delete a link',
		answer: deletedAnswer,
		credential: 'session',
		role: 'developer',
		limit: limits.portal,
		params: idParams,
		handler: ({services, organization, by, params}) => deleteLink(services, {organization, by, id: params.id}),
	}),

	...(['svg', 'png'] as const).map((format) =>
		route({
			method: 'GET',
			path: `/portal/links/:id/qr.${format}`,
			summary: `QR code of a link as ${format.toUpperCase()}`,
			otherAnswers: {304: null},
			answer: qrAnswers[format],
			credential: 'session',
			role: 'viewer',
			limit: limits.portal,
			params: idParams,
			query: qrQuery,
			handler: async ({services, organization, params, query, request}) =>
				qrReply(format, await getLink(services, {organization, id: params.id}), query, request.headers),
		}),
	),
];
