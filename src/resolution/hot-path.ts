import type {IncomingMessage, RequestListener, ServerResponse} from 'node:http';
import {requestIdOf} from '../http/envelope.ts';
import {hostnameOf} from '../http/request-host.ts';
import {limitSubjectOf, limits} from '../limits/limits.ts';
import {LINK_PATH} from '../links/short-code.ts';
import {memoize} from '../memoize.ts';
import {reservedSegments} from '../organizations/org-key.ts';
import type {Services} from '../services.ts';
import {answerData, answerPage} from './answer-visit.ts';
import type {Address} from './locate.ts';
import {readLink} from './resolve-link.ts';
import {goneReason, type ResolvedRow} from './resolved-row.ts';

/** The route patterns of `resolutionRoutes` that these requests are counted under. */
const PAGE_ROUTE = '/:orgKey/:shortCode';
const DATA_ROUTE = '/:orgKey/:shortCode/data';

const ANY_ORIGIN = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', 'X-Request-Id, X-Error-Code'];

/** A link or its data. */
type LinkRequest = {address: Address; isData: boolean};

/**
 * Answers most requests: a GET of a cached live link, or of its data, by its plain path on the shared link domain,
 * below the limit. Every other request goes to `next`. It calls the same functions as
 * `resolutionRoutes`, without the route lookup, joi (the pattern has checked the path), the error envelope and the log
 * line. With LOG_LEVEL=debug it answers nothing.
 * @param readsLinks true until the routes are loaded (`createLazyApp`). Until then uncached links are read here, too.
 */
export const withHotPath = (services: Services, next: RequestListener, readsLinks: () => boolean): RequestListener => {
	if (services.log.isLevelEnabled('debug')) {
		return next;
	}

	const isLinkHost = memoize((host) => {
		const role = services.hostRoles.roleOf(hostnameOf(host));
		return role === 'link' || role === 'both';
	});

	const answer = (
		request: IncomingMessage,
		response: ServerResponse,
		row: ResolvedRow,
		{isData, ip}: {isData: boolean; ip: string},
		fail: (error: unknown) => void,
	): void => {
		const started = performance.now();
		const visit = {ip, headers: request.headers, stream: request, isHead: false};
		(isData ? answerData : answerPage)(services, visit, row, null, {
			answer: ({outcome, headers, body}) => {
				response.writeHead(200, [
					'X-Request-Id',
					requestIdOf(request.headers['x-request-id']),
					'X-Content-Type-Options',
					'nosniff',
					'Content-Length',
					String(body.length),
					...(isData ? ANY_ORIGIN : []),
					...headers,
				]);
				response.end(body, 'latin1');
				const seconds = (performance.now() - started) / 1000;
				services.metrics.request('GET', isData ? DATA_ROUTE : PAGE_ROUTE, 200, seconds);
				services.metrics.resolution(outcome);
			},
			fail,
		});
	};

	/** The requested link, or null if the request is not answered here: a path that is percent-encoded or has a query. */
	const linkRequestOf = ({method, headers, url = ''}: IncomingMessage): LinkRequest | null => {
		const [, orgKey = '', shortCode = '', isData] = LINK_PATH.exec(url) ?? [];
		return method !== 'GET' ||
			orgKey === '' ||
			reservedSegments.has(orgKey) ||
			headers['x-forwarded-host'] !== undefined ||
			!isLinkHost(headers.host ?? '')
			? null
			: {address: {orgKey, shortCode}, isData: isData !== undefined};
	};

	const answerIfAdmitted = (
		request: IncomingMessage,
		response: ServerResponse,
		row: ResolvedRow,
		isData: boolean,
	): void => {
		const ip = services.clientIp.ip(request);
		const decided = (wait: number): void => {
			if (wait > 0) {
				// The routes count it again and refuse it: a refused request costs nothing.
				next(request, response);
				return;
			}

			const fail = (error: unknown): void => {
				services.log.error({err: error}, 'could not answer a visit in the hot path');
				if (!response.headersSent) {
					next(request, response);
				}
			};
			try {
				answer(request, response, row, {isData, ip}, fail);
			} catch (error) {
				fail(error);
			}
		};
		const wait = services.limiter.take(limits.resolution, limitSubjectOf(ip));
		// In memory the decision is synchronous.
		if (typeof wait === 'number') {
			decided(wait);
		} else {
			wait.then(decided, () => next(request, response));
		}
	};

	return (request, response) => {
		const requested = linkRequestOf(request);
		if (requested === null) {
			next(request, response);
			return;
		}

		const {address, isData} = requested;
		const answerWith = (row: ResolvedRow | null | undefined): void => {
			if (row != null && goneReason(row, services.clock.now()) === null) {
				answerIfAdmitted(request, response, row, isData);
			} else {
				next(request, response);
			}
		};
		const row = services.linkCache.peek(address.orgKey, address.shortCode);
		if (row === undefined && readsLinks()) {
			readLink(services, address).then(answerWith, () => next(request, response));
		} else {
			answerWith(row);
		}
	};
};
