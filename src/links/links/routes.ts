import Joi from 'joi';
import {
	adminRoute,
	type OrganizationEndpoint,
	organizationRoute,
	type Route,
	route,
	type SharedInput,
} from '../../accounts/auth/route.ts';
import {limits} from '../../platform/config/limits.ts';
import {deletedAnswer, pageOf} from '../../platform/http/answer.ts';
import type {Method} from '../../platform/http/route.ts';
import {idParams} from '../../platform/http/validate.ts';
import {decideOnLink, deleteLink, updateLink} from './change-link.ts';
import {createLink} from './create-link.ts';
import {idempotencyKeyOf} from './idempotent-create.ts';
import {importLinks} from './import/import-links.ts';
import {
	idempotencyHeader,
	importLineAnswer,
	linkAnswer,
	linkWithDomainAnswer,
	listedLinkAnswer,
	qrAnswers,
} from './link-answer.ts';
import {exportQuery, importQuery, linkChanges, linkListQuery, linkNameQuery, newLink} from './link-schemas.ts';
import {qrQuery, qrReply} from './qr/qr.ts';
import {exportLinks, findLinks, getLink, listLinks} from './read-links.ts';
import {databaseFaults, databaseFaultsOfNew} from './stored-faults.ts';

const decision = Joi.object<{reason?: string | null}>({reason: Joi.string().max(500).allow('', null)});

/** Declares an endpoint of the three surfaces: `/links…` with a SERVER key, the portal's and the operator's. */
const linkRoute = <P extends object = object, Q = unknown, B = unknown>(
	method: Method,
	path: string,
	endpoint: OrganizationEndpoint<SharedInput, P, Q, B>,
): Route[] => {
	const isRead = method === 'GET';
	return [
		route(method, path, {...endpoint, credential: 'serverKey', limit: isRead ? limits.linkReads : limits.linkWrites}),
		...organizationRoute(method, path, {...endpoint, role: isRead ? 'viewer' : 'developer'}),
	];
};

export const linkRoutes = [
	route('GET', '/admin/links', {
		summary: 'Find links of any organization by id, short code or short URL',
		answer: pageOf(linkWithDomainAnswer),
		credential: 'admin',
		query: linkNameQuery,
		handler: ({services, query}) => findLinks(services, query),
	}),

	// Before `:id`, which would match the word too.
	adminRoute('GET', '/links/export', {
		summary: 'Export all links as NDJSON, oldest first',
		answer: {media: ['application/x-ndjson'], about: 'A line per link, as a list answers it.'},
		query: exportQuery,
		handler: ({services, organization, query, request}) => exportLinks(services, {organization, query, request}),
	}),

	adminRoute('POST', '/links/import', {
		summary: 'Import links from NDJSON',
		accepts: {'application/x-ndjson': 'A line per link: a create body, or a line of an export.'},
		answer: {
			media: ['application/x-ndjson'],
			about: 'While it still reads, a line per row (schema `ImportedLine`).',
			lines: importLineAnswer,
		},
		query: importQuery,
		body: 'stream',
		handler: ({services, organization, by, query, request}) =>
			importLinks(services, {organization, by, query, request}),
	}),

	linkRoute('POST', '/links', {
		summary: 'Create a link',
		refusals: [402, 403, 409, 428],
		headers: idempotencyHeader,
		answer: linkAnswer,
		body: newLink,
		databaseFaults: databaseFaultsOfNew,
		status: 201,
		settles: true,
		handler: ({services, organization, by, body, request}) =>
			createLink(services, {organization, by, fields: body, idempotencyKey: idempotencyKeyOf(request.headers)}),
	}),

	linkRoute('GET', '/links', {
		summary: 'List links, newest first',
		answer: pageOf(listedLinkAnswer),
		query: linkListQuery,
		handler: ({services, organization, query}) => listLinks(services, {organization, query}),
	}),

	linkRoute('GET', '/links/:id', {
		summary: 'Get a link',
		answer: linkWithDomainAnswer,
		params: idParams,
		handler: ({services, organization, params}) => getLink(services, {organization, id: params.id}),
	}),

	linkRoute('PATCH', '/links/:id', {
		summary: 'Change a link',
		refusals: [402, 403, 409],
		answer: linkAnswer,
		params: idParams,
		body: linkChanges,
		databaseFaults,
		handler: ({services, organization, by, params, body}) =>
			updateLink(services, {organization, by, id: params.id, changes: body}),
	}),

	linkRoute('DELETE', '/links/:id', {
		summary: 'Delete a link',
		answer: deletedAnswer,
		params: idParams,
		handler: ({services, organization, by, params}) => deleteLink(services, {organization, by, id: params.id}),
	}),

	...(['block', 'unblock'] as const).map((verb) =>
		adminRoute('POST', `/links/:id/${verb}`, {
			summary: verb === 'block' ? 'Block a link' : 'Let a link lead to its destination, whatever the lists say',
			answer: linkWithDomainAnswer,
			params: idParams,
			body: decision,
			settles: true,
			handler: ({services, organization, by, params: {id}, body}) =>
				decideOnLink(services, {
					organization,
					by,
					id,
					state: verb === 'block' ? 'block' : 'allow',
					reason: body.reason || null,
				}),
		}),
	),

	...(['svg', 'png'] as const).map((format) =>
		linkRoute('GET', `/links/:id/qr.${format}`, {
			summary: `Get the QR code of a link as ${format.toUpperCase()}`,
			otherAnswers: {304: null},
			answer: qrAnswers[format],
			params: idParams,
			query: qrQuery,
			handler: async ({services, organization, params, query, request}) =>
				qrReply(format, await getLink(services, {organization, id: params.id}), query, request.headers),
		}),
	),
].flat();
