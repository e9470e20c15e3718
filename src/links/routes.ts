import {deletedAnswer, pageOf} from '../http/answer.ts';
import {type Access, route} from '../http/route.ts';
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

type Surface<C extends 'serverKey' | 'session'> = {
	prefix: string;
	credential: C;
	/** The role and limit of reading routes, and of writing ones. */
	read: Access<C>;
	write: Access<C>;
};

/** The same routes for machines and for people. */
export const linkRoutesOf = <C extends 'serverKey' | 'session'>({prefix, credential, read, write}: Surface<C>) => [
	route({
		method: 'POST',
		path: `${prefix}/links`,
		summary: 'Create a link',
		refusals: [402, 409, 428],
		headers: idempotencyHeader,
		answer: linkAnswer,
		credential,
		...write,
		body: newLink,
		status: 201,
		settles: true,
		handler: ({services, organization, by, body, request}) =>
			createLink(services, {organization, by, fields: body, idempotencyKey: idempotencyKeyOf(request.headers)}),
	}),

	route({
		method: 'GET',
		path: `${prefix}/links`,
		summary: 'List links, newest first',
		answer: pageOf(linkWithDomainAnswer),
		credential,
		...read,
		query: linkListQuery,
		handler: ({services, organization, query}) => listLinks(services, {organization, query}),
	}),

	route({
		method: 'GET',
		path: `${prefix}/links/:id`,
		summary: 'Get a link',
		answer: linkWithDomainAnswer,
		credential,
		...read,
		params: idParams,
		handler: ({services, organization, params}) => getLink(services, {organization, id: params.id}),
	}),

	route({
		method: 'PATCH',
		path: `${prefix}/links/:id`,
		summary: 'Change a link',
		refusals: [402, 409],
		answer: linkAnswer,
		credential,
		...write,
		params: idParams,
		body: linkChanges,
		handler: ({services, organization, by, params, body}) =>
			updateLink(services, {organization, by, id: params.id, changes: body}),
	}),

	route({
		method: 'DELETE',
		path: `${prefix}/links/:id`,
		summary: 'Delete a link',
		answer: deletedAnswer,
		credential,
		...write,
		params: idParams,
		handler: ({services, organization, by, params}) => deleteLink(services, {organization, by, id: params.id}),
	}),

	...(['svg', 'png'] as const).map((format) =>
		route({
			method: 'GET',
			path: `${prefix}/links/:id/qr.${format}`,
			summary: `QR code of a link as ${format.toUpperCase()}`,
			otherAnswers: {304: null},
			answer: qrAnswers[format],
			credential,
			...read,
			params: idParams,
			query: qrQuery,
			handler: async ({services, organization, params, query, request}) =>
				qrReply(format, await getLink(services, {organization, id: params.id}), query, request.headers),
		}),
	),
];

export const linkRoutes = linkRoutesOf({
	prefix: '',
	credential: 'serverKey',
	read: {limit: limits.linkReads},
	write: {limit: limits.linkWrites},
});
