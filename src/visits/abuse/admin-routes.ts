import Joi from 'joi';
import {recordAudit} from '../../accounts/audit/audit-log.ts';
import {route} from '../../accounts/auth/route.ts';
import {organizationReference, requireOrganization} from '../../accounts/organizations/require-organization.ts';
import {inTransaction} from '../../platform/db/db.ts';
import type {PageQuery} from '../../platform/db/read-page.ts';
import {reportNotFound, required} from '../../platform/errors.ts';
import {answerOf, count, instant, instantOrNull, pageOf, text, textOrNull, uuid} from '../../platform/http/answer.ts';
import {idParams, pageQuery} from '../../platform/http/validate.ts';
import {
	closeReport,
	findReport,
	listReports,
	type ReportState,
	reportJson,
	reportReasons,
} from './abuse-report-store.ts';

const reportAnswer = answerOf('AbuseReport', {
	id: uuid,
	link: text,
	linkId: uuid,
	organizationId: uuid,
	reason: Joi.valid(...reportReasons),
	details: textOrNull,
	email: textOrNull,
	count,
	state: Joi.valid('open', 'closed'),
	createdAt: instant,
	lastAt: instant,
	closedAt: instantOrNull,
	note: textOrNull,
});

const MAX_NOTE = 1000;

export const abuseReportRoutes = [
	route('GET', '/admin/reports', {
		summary: 'List reports of links, newest first',
		answer: pageOf(reportAnswer),
		credential: 'admin',
		query: Joi.object<PageQuery & {state: ReportState; orgId?: string}>({
			...pageQuery,
			state: Joi.valid('open', 'closed', 'all').default('open'),
			orgId: organizationReference,
		}),
		handler: async ({services, query: {orgId, ...query}}) => {
			const organization = orgId === undefined ? undefined : await requireOrganization(services, orgId);
			const found = await listReports(services.db, {...query, organizationId: organization?.id});
			return {...found, data: found.data.map(reportJson)};
		},
	}),

	route('GET', '/admin/reports/:id', {
		summary: 'Get a report of a link',
		answer: reportAnswer,
		credential: 'admin',
		params: idParams,
		handler: async ({services, params: {id}}) =>
			reportJson(required(await findReport(services.db, id), reportNotFound)),
	}),

	route('POST', '/admin/reports/:id/close', {
		summary: 'Close a report of a link',
		answer: reportAnswer,
		credential: 'admin',
		params: idParams,
		body: Joi.object<{note?: string | null}>({note: Joi.string().max(MAX_NOTE).allow('', null)}),
		handler: ({services: {db, clock}, params: {id}, body, by}) =>
			inTransaction(db, async (trx) => {
				const now = clock.now();
				const closed = required(await closeReport(trx, id, {note: body.note || null, now}), reportNotFound);
				await recordAudit(trx, now, by, {
					action: 'CLOSE',
					entityType: 'Report',
					entityId: id,
					organizationId: closed.organizationId,
					details: {link: closed.link, note: closed.note},
				});
				return reportJson(closed);
			}),
	}),
];
