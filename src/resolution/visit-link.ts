import {randomBytes} from 'node:crypto';
import Joi from 'joi';
import {deviceIdField} from '../devices/device-fields.ts';
import {registerVisitDevice} from '../devices/visit-device.ts';
import {HttpError} from '../errors.ts';
import type {Query} from '../http/query.ts';
import {type Reply, type RequestFacts, reply} from '../http/route.ts';
import {isStorable} from '../http/storable.ts';
import {validateUrlPart} from '../http/validate.ts';
import {qrSvg} from '../links/qr-svg.ts';
import type {Services} from '../services.ts';
import {crawlerPageHeaders, renderCrawlerPage} from './crawler-page.ts';
import {linkViewOf} from './link-view.ts';
import {isCrawler, openMatchOf, recordVisit} from './record-visit.ts';
import {redirectPageHeaders, renderRedirectPage} from './redirect-page.ts';
import {type ResolutionPath, type ResolvedLink, resolveLink} from './resolve-link.ts';
import {isPrefetch, showsQrCode} from './visitor.ts';
import {setVisitorCookie, visitorCookie} from './visitor-cookie.ts';
import {visitorOf} from './visitor-of-request.ts';

const page = async (services: Services, request: RequestFacts, link: ResolvedLink): Promise<Reply> => {
	const visitor = visitorOf(request);
	if (isCrawler(visitor)) {
		if (!request.isHead) {
			await recordVisit(services, request, link, visitor, null);
		}

		return reply({headers: crawlerPageHeaders(), body: renderCrawlerPage(linkViewOf(services, link, null))});
	}

	// A page that nobody looks at yet is no click and gets no token (facts 1.10).
	const counts = !request.isHead && !isPrefetch(request.headers);
	const globalPrivacyControl = request.headers['sec-gpc'] === '1';
	const cookie = globalPrivacyControl ? null : visitorCookie(request.headers.cookie);
	const opened =
		counts && link.deferredDeepLinking ? await openMatchOf(services, request, link, visitor, cookie) : null;
	// Whoever is shown a token can rely on it. Where nothing could keep the click, the page goes without.
	const match = counts && (await recordVisit(services, request, link, visitor, opened)) ? opened : null;

	const nonce = randomBytes(16).toString('base64');
	return reply({
		headers: {
			...redirectPageHeaders(nonce, request.headers['accept-language']),
			...(match === null || cookie === null ? {} : {'Set-Cookie': setVisitorCookie(services, cookie, match)}),
		},
		body: renderRedirectPage({
			link: linkViewOf(services, link, match?.token ?? null),
			visitor,
			acceptLanguage: request.headers['accept-language'],
			nonce,
			globalPrivacyControl,
			qrSvg: showsQrCode(visitor) ? await qrSvg(link.url) : null,
		}),
	});
};

/** Most parameters, and most bytes of them as JSON, that a link's `params` hold (decisions 4). */
const MAX_PARAMS = 50;
const MAX_PARAMS_BYTES = 8192;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * The link's parameters, and below them what the query adds, as far as the limits of `params` reach (decisions 5): what
 * no link could have as a parameter is left out.
 */
const withQuery = (params: Record<string, string>, query: Query): Record<string, string> => {
	const merged = {...params};
	let count = Object.keys(merged).length;
	let bytes = jsonBytes(merged);
	for (const [name, given] of Object.entries(query)) {
		const [value = ''] = [given].flat();
		if (count >= MAX_PARAMS) {
			break;
		}

		if (name === 'deviceId' || Object.hasOwn(params, name) || !isStorable(name) || !isStorable(value)) {
			continue;
		}

		// With a colon, and a comma behind the one before it.
		const wider = bytes + jsonBytes(name) + jsonBytes(value) + (count === 0 ? 1 : 2);
		if (wider <= MAX_PARAMS_BYTES) {
			merged[name] = value;
			count += 1;
			bytes = wider;
		}
	}

	return merged;
};

/** Of the query only `deviceId` is ours: it registers the device (interface 4.3). */
const deviceQuery = Joi.object<{deviceId?: string}>({deviceId: deviceIdField});

const data = async (services: Services, request: RequestFacts, link: ResolvedLink, query: Query) => {
	const {deviceId} = validateUrlPart(deviceQuery, 'deviceId' in query ? {deviceId: query['deviceId']} : {});
	if (!request.isHead) {
		if (deviceId !== undefined) {
			await registerVisitDevice(services, {organizationId: link.organization.id, deviceId, ip: request.ip});
		}

		await recordVisit(services, request, link, visitorOf(request), null);
	}

	return reply({
		headers: {'Cache-Control': 'no-store'},
		body: {linkId: link.id, path: link.path, params: withQuery(link.params, query)},
	});
};

const refusals: Record<number, 'malformed' | 'not_found' | 'gone'> = {400: 'malformed', 404: 'not_found', 410: 'gone'};

/** Answers a resolution path: the page for people, the static one for crawlers, or the link's data. @throws 400, 404, 410. */
export const visitLink = async (
	services: Services,
	request: RequestFacts,
	path: ResolutionPath,
	query: Query,
): Promise<Reply> => {
	const {metrics} = services;
	try {
		const found = await resolveLink(services, request.hostname, path);
		const answer = await (found.data
			? data(services, request, found.link, query)
			: page(services, request, found.link));
		metrics.resolution(found.data ? 'data' : isCrawler(visitorOf(request)) ? 'preview' : 'page');
		return answer;
	} catch (error) {
		metrics.resolution((error instanceof HttpError && refusals[error.status]) || 'failed');
		throw error;
	}
};
