import type {IncomingMessage, RequestListener, ServerResponse} from 'node:http';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {reservedSegments} from '../../accounts/organizations/org-key.ts';
import type {VerifiedDomain} from '../../links/domains/domain-store.ts';
import {addressOn, findOwnDomain, pathBehindPrefix, servedOnEveryHost} from '../../links/domains/locate.ts';
import {limitSubjectOf, limits} from '../../platform/config/limits.ts';
import {HttpError, rateLimited, unknownPath} from '../../platform/errors.ts';
import {errorBody, errorHeaders, rawPath, refusalOf, requestIdOf} from '../../platform/http/envelope.ts';
import {anyOrigin, preflight} from '../../platform/http/headers.ts';
import type {HostRole} from '../../platform/http/request-host.ts';
import {readQuery} from '../../platform/query.ts';
import type {Services} from '../../services.ts';
import {answerRoot} from '../page/start-page.ts';
import type {LinkAnswer} from '../visit/visit.ts';
import {errorPageOf} from './error-page.ts';
import {takeSignals} from './signals.ts';
import {hasMethod, isBlockedAt, type LinkPath, linkRoutes, readLinkPath, visitLink} from './visit-link.ts';

/** A request to a link host, as far as it has been read. */
type HostRequest = {
	request: IncomingMessage;
	path: string;
	ip: string;
	hostname: string | null;
	role: HostRole;
	/** The custom domain of a host with the role `other`; null for an unknown one. */
	domain: VerifiedDomain | null;
	/** Null for a path that names nothing. */
	named: LinkPath | null;
	/** Seconds to wait under the limit of visits; null until the request is counted. */
	wait: number | null;
	/** Why the domain could not be read; null if it could. */
	fault: unknown;
};

/** The part of a request that the limit of visits needs. */
type VisitCount = Pick<HostRequest, 'ip' | 'wait'>;

const NONE: readonly string[] = [];
const ANY_ORIGIN = Object.entries(anyOrigin).flat();
const PREFLIGHT = Object.entries(preflight).flat();

/** On a custom domain `/spring/data` has the path of a page, but is data unless its first segment is the domain's orgKey. */
const isData = ({named, domain}: HostRequest): boolean =>
	named?.route === linkRoutes.data ||
	(named?.route === linkRoutes.page && domain !== null && named.shortCode === 'data' && named.orgKey !== domain.orgKey);

const firstSegment = (path: string): string => {
	const end = path.indexOf('/', 1);
	return path.slice(1, end === -1 ? undefined : end);
};

/**
 * The one way into the server: answers every request for a link, its data, its signals and the root of a host, whatever
 * the host is, and every refusal of them. Requests of other surfaces go to `next`. A link page needs none of Koa, joi
 * and the table of routes, which are loaded later (`start/lazy-app.ts`).
 */
export class Door {
	readonly #services: Services;
	readonly #next: RequestListener;

	constructor(services: Services, next: RequestListener) {
		this.#services = services;
		this.#next = next;
	}

	readonly listener: RequestListener = (request, response) => {
		this.#read(request)
			.then((asked) => (asked === null ? this.#next(request, response) : this.#serve(asked, response)))
			.catch((error: unknown) => {
				this.#services.log.error({err: error}, 'could not answer a request of a link host');
				response.destroy();
			});
	};

	/** Counts the request as a visit of its caller's address, once. */
	async #count(asked: VisitCount): Promise<number> {
		asked.wait ??= await this.#services.limiter.take(limits.resolution, limitSubjectOf(asked.ip));
		return asked.wait;
	}

	/**
	 * An uncached host name costs a query before any limit of a route, so it counts as a visit. Beyond the limit it is
	 * unknown, because a path without a limit has no 429. @throws 404.
	 */
	async #admitUnknown(asked: VisitCount): Promise<void> {
		if ((await this.#count(asked)) > 0) {
			this.#services.metrics.rateLimited(limits.resolution.name);
			throw unknownPath();
		}
	}

	/** The custom domain of the host. Null beyond the limit, too: the path decides the answer. */
	#domainOf(hostname: string | null, counted: VisitCount): Promise<VerifiedDomain | null> {
		return findOwnDomain(this.#services, hostname, () => this.#admitUnknown(counted)).catch((error: unknown) => {
			if (error instanceof HttpError) {
				return null;
			}

			throw error;
		});
	}

	/** Answers the resource of the path. @throws 400, 404, 410, 429. */
	async #answer(asked: HostRequest): Promise<LinkAnswer> {
		const {request, hostname, role, domain, named, ip, fault} = asked;
		const {method} = request;
		if (fault !== null) {
			throw fault;
		}

		if (method === 'OPTIONS' && isData(asked)) {
			return {status: 204, headers: PREFLIGHT, body: ''};
		}

		if (named === null || !hasMethod(named, method)) {
			throw unknownPath();
		}

		if (named.route === linkRoutes.root) {
			return answerRoot(this.#services, asked, request.headers);
		}

		const wait = await this.#count(asked);
		if (wait > 0) {
			this.#services.metrics.rateLimited(limits.resolution.name);
			throw rateLimited(wait);
		}

		const visit = {ip, hostname, headers: request.headers, stream: request, isHead: method === 'HEAD'};
		if (named.route === linkRoutes.signals) {
			const {address} = addressOn(asked, named);
			// Read all the same, so that the connection stays usable.
			await takeSignals(this.#services, visit, await isBlockedAt(this.#services, address));
			return {status: 204, headers: NONE, body: ''};
		}

		return visitLink(
			this.#services,
			visit,
			{role, domain, path: named},
			request.url?.includes('?') ? readQuery(request.url) : null,
		);
	}

	async #refuse(asked: HostRequest, error: unknown, requestId: string): Promise<LinkAnswer> {
		const {request} = asked;
		const refusal = refusalOf(error);
		if (refusal.status >= 500) {
			this.#services.log.child({requestId}).error({err: error}, 'request failed');
		}

		const page = await errorPageOf(this.#services, {...asked, before: () => this.#admitUnknown(asked)}, refusal);
		if (page !== null) {
			return page;
		}

		// A body that arrived together with the headers ends with this turn.
		if (!request.complete) {
			await nextTurn();
		}

		const body = errorBody(refusal, {now: this.#services.clock.now(), url: request.url, requestId});
		return {
			status: refusal.status,
			headers: [
				'Content-Type',
				'application/json; charset=utf-8',
				...Object.entries(errorHeaders(refusal)).flat(),
				// The caller need not send the rest of the body; it would be discarded (rest-of-body.ts).
				...(request.complete ? NONE : ['Connection', 'close']),
			],
			body: Buffer.from(JSON.stringify(body)).toString('latin1'),
		};
	}

	async #serve(asked: HostRequest, response: ServerResponse): Promise<void> {
		const started = performance.now();
		const {request, named} = asked;
		const {method = ''} = request;
		const requestId = requestIdOf(request.headers['x-request-id']);
		const {
			status = 200,
			headers,
			body,
		} = await this.#answer(asked).catch((error) => this.#refuse(asked, error, requestId));
		const route = named !== null && hasMethod(named, method) ? named.route : null;
		const isReadable = isData(asked) && (route !== null || method === 'OPTIONS');
		response.writeHead(status, [
			'X-Request-Id',
			requestId,
			'X-Content-Type-Options',
			'nosniff',
			...(status === 204 ? NONE : ['Content-Length', String(body.length)]),
			...(isReadable ? ANY_ORIGIN : NONE),
			...headers,
		]);
		response.end(method === 'HEAD' ? '' : body, 'latin1');
		const milliseconds = performance.now() - started;
		this.#services.metrics.request(method, route, status, milliseconds / 1000);
		if (this.#services.log.isLevelEnabled('debug')) {
			this.#services.log
				.child({requestId})
				.debug({method, path: rawPath(request.url), status, milliseconds}, 'request');
		}
	}

	/** @returns null for a request of another surface. */
	async #read(request: IncomingMessage): Promise<HostRequest | null> {
		const path = rawPath(request.url);
		const first = firstSegment(path);
		if (servedOnEveryHost.has(first)) {
			return null;
		}

		const hostname = this.#services.clientIp.hostname(request);
		const role = this.#services.hostRoles.roleOf(hostname);
		// Custom domains may have had a link `report` before the API host had the form.
		const isReserved = reservedSegments.has(first) && !(role === 'other' && first === 'report');
		const asked: HostRequest = {
			request,
			path,
			ip: this.#services.clientIp.ip(request),
			hostname,
			role,
			domain: null,
			named: isReserved ? null : readLinkPath(path),
			wait: null,
			fault: null,
		};
		if (role !== 'other') {
			return isReserved && role !== 'link' ? null : asked;
		}

		try {
			asked.domain = await this.#domainOf(hostname, asked);
		} catch (error) {
			asked.fault = error;
			return asked;
		}

		// Beyond the limit it is unknown whether an uncached host serves the other surfaces.
		if (isReserved && asked.domain === null && (asked.wait ?? 0) === 0) {
			return null;
		}

		const behind = asked.domain === null ? null : pathBehindPrefix(asked.domain.pathPrefixes, path);
		asked.named = behind === null ? asked.named : readLinkPath(behind);
		return asked;
	}
}
