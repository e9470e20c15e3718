import {deletedAnswer, pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {uuidParam} from '../http/validate.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {createLink} from './create-link.ts';
import {deleteLink} from './delete-link.ts';
import {exportLinks} from './export-links.ts';
import {findLinks} from './find-links.ts';
import {idempotencyKeyOf} from './idempotent-create.ts';
import {importLinks} from './import/import-links.ts';
import {idempotencyHeader, importLineAnswer, linkAnswer, linkWithDomainAnswer, qrAnswers} from './link-answer.ts';
import {importQuery, linkChanges, linkListQuery, linkNameQuery, newLink} from './link-schemas.ts';
import {qrQuery, qrReply} from './qr/qr.ts';
import {getLink, listLinks} from './read-links.ts';
import {updateLink} from './update-link.ts';

const linkParams = orgParams.append<{orgId: string; id: string}>({id: uuidParam});

export const adminLinkRoutes = [
	route({
		method: 'GET',
		path: '/admin/links',
		summary: 'Find links of any organization by id, short code or short URL',
		answer: pageOf(linkWithDomainAnswer),
		credential: 'admin',
		query: linkNameQuery,
		handler: ({services, query}) => findLinks(services, query),
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/links',
		summary: 'List links, newest first',
		answer: pageOf(linkWithDomainAnswer),
		credential: 'admin',
		params: orgParams,
		query: linkListQuery,
		handler: async ({services, params, query}) =>
			listLinks(services, {organization: await requireOrganization(services, params.orgId), query}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/links',
		summary: 'Create a link',
		refusals: [402, 403, 409, 428],
		headers: idempotencyHeader,
		answer: linkAnswer,
		credential: 'admin',
		params: orgParams,
		body: newLink,
		status: 201,
		settles: true,
		handler: async ({services, by, params, body, request}) =>
			createLink(services, {
				organization: await requireOrganization(services, params.orgId),
				by,
				fields: body,
				idempotencyKey: idempotencyKeyOf(request.headers),
			}),
	}),

	// Before `:id`, which would match the word too.
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/links/export',
		summary: 'Export all links as NDJSON, oldest first',
		answer: {media: ['application/x-ndjson'], about: 'A line per link, as a list answers it.'},
		credential: 'admin',
		params: orgParams,
		handler: async ({services, params, request}) =>
			exportLinks(services, {organization: await requireOrganization(services, params.orgId), request}),
	}),

	route({
		method: 'POST',
		path: '/admin/organizations/:orgId/links/import',
		summary: 'Import links from NDJSON',
		accepts: {'application/x-ndjson': 'A line per link: a create body, or a line of an export.'},
		answer: {
			media: ['application/x-ndjson'],
			about: 'While it still reads, a line per row (schema `ImportedLine`).',
			lines: importLineAnswer,
		},
		credential: 'admin',
		params: orgParams,
		query: importQuery,
		body: 'stream',
		handler: async ({services, by, params, query, request}) =>
			importLinks(services, {organization: await requireOrganization(services, params.orgId), by, query, request}),
	}),

	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/links/:id',
		summary: 'Get a link',
		answer: linkWithDomainAnswer,
		credential: 'admin',
		params: linkParams,
		handler: async ({services, params}) =>
			getLink(services, {organization: await requireOrganization(services, params.orgId), id: params.id}),
	}),

	route({
		method: 'PATCH',
		path: '/admin/organizations/:orgId/links/:id',
		summary: 'Change a link',
		refusals: [402, 403, 409],
		answer: linkAnswer,
		credential: 'admin',
		params: linkParams,
		body: linkChanges,
		handler: async ({services, by, params, body}) =>
			updateLink(services, {
				organization: await requireOrganization(services, params.orgId),
				by,
				id: params.id,
				changes: body,
			}),
	}),

	route({
		method: 'DELETE',
		path: '/admin/organizations/:orgId/links/:id',
		summary: 'Delete a link',
		answer: deletedAnswer,
		credential: 'admin',
		params: linkParams,
		handler: async ({services, by, params}) =>
			deleteLink(services, {organization: await requireOrganization(services, params.orgId), by, id: params.id}),
	}),

	...(['svg', 'png'] as const).map((format) =>
		route({
			method: 'GET',
			path: `/admin/organizations/:orgId/links/:id/qr.${format}`,
			summary: `QR code of a link as ${format.toUpperCase()}`,
			otherAnswers: {304: null},
			answer: qrAnswers[format],
			credential: 'admin',
			params: linkParams,
			query: qrQuery,
			handler: async ({services, params, query, request}) => {
				const organization = await requireOrganization(services, params.orgId);
				return qrReply(format, await getLink(services, {organization, id: params.id}), query, request.headers);
			},
		}),
	),
];
