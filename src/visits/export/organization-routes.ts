import Joi from 'joi';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {isoDateTime} from '../../platform/http/validate.ts';
import {type ExportFormat, exportFormats, exportKinds} from './export-kinds.ts';
import {CURSOR_HEADER, exportRows} from './export-rows.ts';

const query = Joi.object<{cursor?: string; since?: Date; format: ExportFormat}>({
	cursor: Joi.string().max(4096),
	since: isoDateTime(),
	format: Joi.valid(...exportFormats).default('ndjson'),
}).oxor('cursor', 'since');

export const exportRoutes = exportKinds.flatMap((kind) =>
	organizationRoute('GET', `/export/${kind}`, {
		summary: `Export ${kind} that were stored after the last export`,
		answer: {
			media: ['application/x-ndjson', 'text/csv'],
			about: 'A row per line; the last line of NDJSON is `{"cursor": …}`, where the next export goes on.',
		},
		headers: {[CURSOR_HEADER]: 'The cursor of the last export, as `cursor`'},
		role: 'admin',
		query,
		handler: ({services, organization, query: {cursor, ...rest}, request}) => {
			const sent = request.headers[CURSOR_HEADER.toLowerCase()];
			return exportRows(services, {
				...rest,
				kind,
				organization,
				request,
				cursor: cursor ?? (typeof sent === 'string' && rest.since === undefined ? sent : undefined),
			});
		},
	}),
);
