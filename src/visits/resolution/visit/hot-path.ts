import type {IncomingMessage, RequestListener, ServerResponse} from 'node:http';
import {reservedSegments} from '../../../accounts/organizations/org-key.ts';
import type {Address} from '../../../links/domains/locate.ts';
import {LINK_PATH} from '../../../links/links/short-code.ts';
import {requestIdOf} from '../../../platform/http/envelope.ts';
import {hostnameOf} from '../../../platform/http/request-host.ts';
import {limitSubjectOf, limits} from '../../../platform/limits/limits.ts';
import {memoize} from '../../../platform/memoize.ts';
import type {Services} from '../../../services.ts';
import {answerVisit} from './answer-visit.ts';
import {type HandedOn, handedOn, readLink} from './resolve-link.ts';
import {goneReason, type ResolvedRow} from './resolved-row.ts';

/** The route patterns of `resolutionRoutes` that these requests are counted under. */
const PAGE_ROUTE = '/:orgKey/:shortCode';
const DATA_ROUTE = '/:orgKey/:shortCode/data';

const ANY_ORIGIN = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', 'X-Request-Id, X-Error-Code'];

/** A link or its data. */
type LinkRequest = {address: Address; isData: boolean};

/**
 * Answers most requests: a GET of a live link, or of its data, by its plain path on the shared link domain, below the
 * limit. Every other request goes to `next`. It calls the same functions as
 * `resolutionRoutes`, without the route lookup, joi (the pattern has checked the path), the error envelope and the log
 * line. With LOG_LEVEL=debug it answers nothing.
 */
export const withHotPath = (services: Services, next: RequestListener): RequestListener => {
	if (services.log.isLevelEnabled('debug')) {
		return next;
	}

	const isLinkHost = memoize((host) => {
		const role = services.hostRoles.roleOf(hostnameOf(host));
		return role === 'link' || role === 'both';
	});

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

	/** The row of the link if it is live; else null, and the routes answer. */
	const liveRow = async (address: Address, passed: HandedOn): Promise<ResolvedRow | null> => {
		let row = services.linkCache.peek(address);
		if (row === undefined) {
			passed.link = readLink(services, address);
			row = await passed.link.catch(() => null);
		}

		return row === null || goneReason(row, services.clock.now()) !== null ? null : row;
	};

	/** @returns false if the routes have to answer. */
	const answer = async (
		request: IncomingMessage,
		response: ServerResponse,
		{address, isData}: LinkRequest,
	): Promise<boolean> => {
		const ip = services.clientIp.ip(request);
		const wait = await services.limiter.take(limits.resolution, limitSubjectOf(ip));
		const passed: HandedOn = {wait};
		const row = wait > 0 ? null : await liveRow(address, passed);
		if (row === null) {
			handedOn.set(request, passed);
			return false;
		}

		const started = performance.now();
		const visit = {ip, headers: request.headers, stream: request, isHead: false};
		const {outcome, headers, body} = await answerVisit(services, visit, {row, isData, query: null});
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
		return true;
	};

	return (request, response) => {
		const requested = linkRequestOf(request);
		if (requested === null) {
			next(request, response);
			return;
		}

		answer(request, response, requested).then(
			(isAnswered) => {
				if (!isAnswered) {
					next(request, response);
				}
			},
			(error: unknown) => {
				services.log.error({err: error}, 'could not answer a visit in the hot path');
				if (!response.headersSent) {
					next(request, response);
				}
			},
		);
	};
};
