import Joi from 'joi';
import {route} from '../../accounts/auth/route.ts';
import {addressOf} from '../../links/links/read-links.ts';
import {limitSubjectOf, limits} from '../../platform/config/limits.ts';
import {HttpError, unknownPath, validationFailed} from '../../platform/errors.ts';
import {flag, partOf} from '../../platform/http/answer.ts';
import {readJsonBody, readRawBody} from '../../platform/http/body.ts';
import {errorHeaders} from '../../platform/http/envelope.ts';
import {type Reply, type RequestFacts, reply} from '../../platform/http/route.ts';
import {checkBody} from '../../platform/http/validate.ts';
import {enforceLimit} from '../../platform/limits/enforce-limit.ts';
import type {Services} from '../../services.ts';
import {reportNetworkOf} from '../matches/network-keys.ts';
import {addReport, type ReportReason, reportReasons} from './abuse-report-store.ts';
import {MAX_DETAILS, MAX_EMAIL, MAX_LINK, type ReportPage, reportPage} from './report-page.ts';

type ReportBody = {link: string; reason: ReportReason; details?: string | null; email?: string | null};

const reportBody = Joi.object<ReportBody>({
	link: Joi.string().max(MAX_LINK).required(),
	reason: Joi.valid(...reportReasons).required(),
	details: Joi.string().allow('').max(MAX_DETAILS).allow(null),
	email: Joi.string()
		.max(MAX_EMAIL)
		.pattern(/^[^\s@]+@[^\s@]+$/)
		.message('{{#label}} must be an email address')
		.allow('', null),
});

const FORM = 'application/x-www-form-urlencoded';

/** The longest body of a form: each character percent-encoded. */
const MAX_FORM_BYTES = 32 * 1024;

const isForm = ({headers}: RequestFacts): boolean =>
	(headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === FORM;

const pageReply = (
	request: RequestFacts,
	status: number,
	page: ReportPage,
	more: Record<string, string> = {},
): Reply => {
	const {headers, body} = reportPage(request.headers['accept-language'], page);
	const named = Object.fromEntries(
		Array.from({length: headers.length / 2}, (_, index) => [headers[index * 2] ?? '', headers[index * 2 + 1] ?? '']),
	);
	return reply({status, headers: {...named, ...more}, body});
};

const readForm = async ({stream}: RequestFacts): Promise<Record<string, string>> =>
	Object.fromEntries(new URLSearchParams((await readRawBody(stream, MAX_FORM_BYTES)).toString('utf8')));

/** @throws 404 unless reports are taken and the host is the API's. */
const requireReports = (
	{config, hostRoles}: Pick<Services, 'config' | 'hostRoles'>,
	{hostname}: RequestFacts,
): void => {
	const role = hostRoles.roleOf(hostname);
	if (config.abuseContact === null || (role !== 'api' && role !== 'both')) {
		throw unknownPath();
	}
};

/** Takes a report; a report of anything but a link of this server is dropped silently. @throws 400. */
const takeReport = async (services: Services, request: RequestFacts, sent: unknown): Promise<void> => {
	const {value, faults} = checkBody(reportBody, sent, services.bodyContext);
	if (faults.length > 0) {
		throw validationFailed(faults);
	}

	const address = await addressOf(services, value.link).catch((error: unknown) => {
		if (error instanceof HttpError && error.status < 500) {
			return null;
		}

		throw error;
	});
	if (address === null) {
		return;
	}

	const now = services.clock.now();
	const [pepper] = await services.matchPeppers.at(now);
	const isOfLink = await addReport(services.db, address, {
		link: value.link,
		reason: value.reason,
		details: value.details || null,
		email: value.email || null,
		network: reportNetworkOf(pepper, request.ip),
		now,
	});
	if (isOfLink) {
		services.metrics.abuseReport(value.reason);
	}
};

export const reportRoutes = [
	route('GET', '/report', {
		summary: 'Show the form by which people report a link',
		answer: {media: ['text/html'], about: 'The form, filled in with `link`.'},
		refusals: [404],
		credential: 'none',
		limit: limits.documents,
		query: Joi.object<{link?: unknown}>({link: Joi.any()}),
		handler: ({services, request, query: {link}}) => {
			requireReports(services, request);
			const text = typeof link === 'string' ? link.slice(0, MAX_LINK) : '';
			return pageReply(request, 200, {shows: 'form', fault: null, values: {link: text}});
		},
	}),

	route('POST', '/report', {
		summary: 'Report a link',
		description:
			'At most 5 an hour and address. Answers 202 whether or not the link exists. A form gets a page, JSON gets JSON.',
		answer: partOf({accepted: flag}),
		refusals: [404, 429],
		credential: 'none',
		status: 202,
		body: 'stream',
		accepts: {'application/json': reportBody, [FORM]: 'The same fields as a form.'},
		handler: async ({services, request}) => {
			requireReports(services, request);
			const isByForm = isForm(request);
			let values: Record<string, string> = {};
			try {
				await enforceLimit(services, limits.reports, {subject: limitSubjectOf(request.ip), owner: null});
				values = isByForm ? await readForm(request) : values;
				await takeReport(services, request, isByForm ? values : await readJsonBody(request.stream));
				return isByForm ? pageReply(request, 202, {shows: 'thanks'}) : {accepted: true};
			} catch (error) {
				if (!isByForm || !(error instanceof HttpError) || (error.status !== 400 && error.status !== 429)) {
					throw error;
				}

				const fault = error.status === 429 ? 'tooMany' : 'invalid';
				return pageReply(request, error.status, {shows: 'form', fault, values}, errorHeaders(error));
			}
		},
	}),
];
