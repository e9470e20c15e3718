import {randomBytes} from 'node:crypto';
import type {IncomingMessage, RequestListener, ServerResponse} from 'node:http';
import {requestIdOf} from '../http/envelope.ts';
import {hostnameOf} from '../http/request-host.ts';
import {limitSubjectOf} from '../limits/limit-subject.ts';
import {decidedWaits} from '../limits/limiter.ts';
import {limits} from '../limits/limits.ts';
import {memoize} from '../memoize.ts';
import {reservedSegments} from '../organizations/org-key.ts';
import type {Services} from '../services.ts';
import {createDataBodies} from './data-bodies.ts';
import {pageLanguage} from './page-strings.ts';
import {isCrawler, openMatchOf, recordVisit} from './record-visit.ts';
import {contentSecurityPolicy} from './redirect-page.ts';
import {type Address, goneReason, type LinkRow, readLink} from './resolve-link.ts';
import {showsQrCode} from './visitor.ts';
import {setVisitorCookie, visitorCookie} from './visitor-cookie.ts';
import {visitorOf} from './visitor-of-request.ts';

/** The paths that are answered here: nothing in them is encoded, and nothing is asked for beside the link. */
const PATH = /^\/([A-Za-z0-9]{4})\/([A-Za-z0-9_-]{1,64})(\/data)?$/;

/** The patterns of `resolutionRoutes` that such a request is counted under. */
const PAGE_ROUTE = '/:orgKey/:shortCode';
const DATA_ROUTE = '/:orgKey/:shortCode/data';

/** A link, or its data. */
type Asked = {address: Address; isData: boolean};

/** What makes a request another one than that of a page's reader. */
const UNUSUAL = ['x-forwarded-host', 'sec-purpose', 'purpose', 'x-moz'] as const;

/**
 * Answers the visits that nearly all requests are, and hands every other request on: a person's GET of a live link, or
 * of its data, by its plain path on the shared link domain, where the link is in memory and the limit is not reached.
 * It is the contract of `resolutionRoutes`, which answer whatever is handed on, and the same functions. What it skips is
 * what such a request cannot need: the search for the route, joi (the path has been matched, and nothing else is read),
 * the envelope of errors, and the log line, so that with LOG_LEVEL=debug nothing is answered here.
 * @param readsLinks whether links that are not in memory are read here: until the routes are there (`LateParts`).
 */
export const inFrontOf = (services: Services, next: RequestListener, readsLinks: () => boolean): RequestListener => {
	if (services.log.isLevelEnabled('debug')) {
		return next;
	}

	const isLinkHost = memoize((host) => {
		const role = services.hostRoles.roleOf(hostnameOf(host));
		return role === 'link' || role === 'both';
	});
	const dataBodyOf = createDataBodies();

	/** @param body bytes, each of them a character. */
	const respond = (request: IncomingMessage, response: ServerResponse, headers: string[], body: string): void => {
		response.writeHead(200, [
			'X-Request-Id',
			requestIdOf(request.headers['x-request-id']),
			'X-Content-Type-Options',
			'nosniff',
			'Cache-Control',
			'no-store',
			'Content-Length',
			String(body.length),
			...headers,
		]);
		response.end(body, 'latin1');
	};

	const count = (outcome: 'page' | 'data', started: number): void => {
		services.metrics.request(
			'GET',
			outcome === 'page' ? PAGE_ROUTE : DATA_ROUTE,
			200,
			(performance.now() - started) / 1000,
		);
		services.metrics.resolution(outcome);
	};

	const data =
		(request: IncomingMessage, response: ServerResponse, row: LinkRow) => async (ip: string, started: number) => {
			const {headers} = request;
			const link = {id: row.id, channel: row.channel, organization: {id: row.organization_id}};
			await recordVisit(services, {ip, headers, stream: request}, link, visitorOf({headers}), null);
			respond(
				request,
				response,
				[
					'Access-Control-Allow-Origin',
					'*',
					'Access-Control-Expose-Headers',
					'X-Request-Id',
					'Content-Type',
					'application/json; charset=utf-8',
				],
				dataBodyOf(row),
			);
			count('data', started);
		};

	/** What answers with the page, or null where it is not one of those that are made here. */
	const page = (request: IncomingMessage, response: ServerResponse, row: LinkRow) => {
		const {headers} = request;
		const visitor = visitorOf({headers});
		if (isCrawler(visitor)) {
			return null;
		}

		const acceptLanguage = headers['accept-language'];
		const globalPrivacyControl = headers['sec-gpc'] === '1';
		const language = pageLanguage(acceptLanguage);
		const kind = {
			class: visitor.class,
			acceptLanguage,
			language,
			globalPrivacyControl,
			hasToken: row.deferred_deep_linking,
			hasQrCode: showsQrCode(visitor),
		};
		const template = services.pageTemplates.of(row, kind);
		if (template === null) {
			return null;
		}

		return async (ip: string, started: number, handOn: () => void): Promise<void> => {
			const cookie = globalPrivacyControl ? null : visitorCookie(headers.cookie);
			const link = {
				id: row.id,
				channel: row.channel,
				organization: {id: row.organization_id},
				matchWindowHours: row.match_window_hours,
			};
			const opened = kind.hasToken ? await openMatchOf(services, {ip}, link, visitor, cookie) : null;
			const isKept = await recordVisit(services, {ip, headers, stream: request}, link, visitor, opened);
			if (!isKept && kind.hasToken) {
				// The page without a token is another one.
				handOn();
				return;
			}

			const nonce = randomBytes(16).toString('base64');
			respond(
				request,
				response,
				[
					'Content-Type',
					'text/html; charset=utf-8',
					'Content-Language',
					language,
					'Accept-CH',
					'Sec-CH-Timezone',
					'Vary',
					'User-Agent, Accept-Language',
					'X-Robots-Tag',
					'noindex, nofollow',
					'Referrer-Policy',
					'strict-origin-when-cross-origin',
					'Content-Security-Policy',
					contentSecurityPolicy(nonce),
					...(opened === null || cookie === null ? [] : ['Set-Cookie', setVisitorCookie(services, cookie, opened)]),
				],
				template.fill({nonce, token: opened?.token ?? null}),
			);
			count('page', started);
		};
	};

	/** What is asked for, or null where it is nothing that is answered here. */
	const askedFor = ({method, headers, url = ''}: IncomingMessage): Asked | null => {
		const [, orgKey = '', shortCode = '', isData] = PATH.exec(url) ?? [];
		return method !== 'GET' ||
			orgKey === '' ||
			reservedSegments.has(orgKey) ||
			UNUSUAL.some((name) => headers[name] !== undefined) ||
			!isLinkHost(headers.host ?? '')
			? null
			: {address: {orgKey, shortCode}, isData: isData !== undefined};
	};

	const answerWith = (
		request: IncomingMessage,
		response: ServerResponse,
		{isData}: Asked,
		row: LinkRow | null | undefined,
	): void => {
		const isLive = row != null && goneReason(row, services.clock.now()) === null;
		const answer = !isLive ? null : isData ? data(request, response, row) : page(request, response, row);
		if (answer === null) {
			next(request, response);
			return;
		}

		const started = performance.now();
		const ip = services.clientIp.ip(request);
		const handOn = (wait: number): void => {
			// It has been counted, so that nobody counts it again.
			decidedWaits.set(request, wait);
			next(request, response);
		};
		const decided = (wait: number): void => {
			if (wait > 0) {
				handOn(wait);
				return;
			}

			answer(ip, started, () => handOn(0)).catch((error: unknown) => {
				services.log.error({err: error}, 'a visit could not be answered at once');
				if (!response.headersSent) {
					handOn(0);
				}
			});
		};
		const wait = services.limiter.take(limits.resolution, limitSubjectOf(ip));
		// For nearly all visitors it is decided at once.
		if (typeof wait === 'number') {
			decided(wait);
		} else {
			wait.then(decided, () => next(request, response));
		}
	};

	return (request, response) => {
		const asked = askedFor(request);
		if (asked === null) {
			next(request, response);
			return;
		}

		const row = services.linkCache.peek(asked.address.orgKey, asked.address.shortCode);
		if (row === undefined && readsLinks()) {
			readLink(services, asked.address).then(
				(read) => answerWith(request, response, asked, read),
				() => next(request, response),
			);
			return;
		}

		answerWith(request, response, asked, row);
	};
};
