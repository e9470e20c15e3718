import type {IncomingMessage, RequestListener} from 'node:http';
import Router from '@koa/router';
import Joi from 'joi';
import Koa from 'koa';
import {apiKeyRoutes} from './api-keys/organization-routes.ts';
import {appConfigRoutes} from './app-config/organization-routes.ts';
import {auditRoutes} from './audit/organization-routes.ts';
import {billingEventRoutes} from './billing/admin-routes.ts';
import {opsBillingRoutes} from './billing/ops-routes.ts';
import {portalBillingRoutes} from './billing/portal-routes.ts';
import {gatewayWebhookRoutes} from './billing/webhook-routes.ts';
import {channelRoutes} from './channels/organization-routes.ts';
import {statsRoutes} from './clicks/admin-routes.ts';
import {clickStreamRoutes} from './clicks/click-stream-routes.ts';
import {portalStatsRoutes} from './clicks/portal-routes.ts';
import {devRoutes} from './dev/routes.ts';
import {deviceRoutes} from './devices/organization-routes.ts';
import {doctorRoutes} from './doctor/admin-routes.ts';
import {internalRoutes} from './domains/internal-routes.ts';
import {domainRoutes} from './domains/organization-routes.ts';
import {unknownPath} from './errors.ts';
import {statusRoutes} from './health/admin-routes.ts';
import {healthRoutes} from './health/routes.ts';
import {envelope} from './http/envelope.ts';
import {createExchange, type Exchange} from './http/exchange.ts';
import {hostnameOf} from './http/request-host.ts';
import type {Route} from './http/route.ts';
import {identityEventRoutes} from './identity/admin-routes.ts';
import {identityWebhookRoutes} from './identity/webhook-routes.ts';
import {linkRoutes} from './links/routes.ts';
import {matchAttemptRoutes} from './match/organization-routes.ts';
import {matchRoutes} from './match/routes.ts';
import {metricsRoutes} from './metrics/routes.ts';
import {portalOnboardingRoutes} from './onboarding/portal-routes.ts';
import {documentRoutes} from './openapi/routes.ts';
import {reservedSegments} from './organizations/org-key.ts';
import {organizationRoutes} from './organizations/organization-routes.ts';
import {privacyRoutes} from './privacy/admin-routes.ts';
import {associationRoutes} from './resolution/association-routes.ts';
import {answeredByPage} from './resolution/error-pages.ts';
import {pathBehindPrefix, servedOnEveryHost} from './resolution/path-prefixes.ts';
import {resolutionRoutes} from './resolution/routes.ts';
import {domainOfHost, serves} from './resolution/serves-host.ts';
import {eventRoutes} from './sdk/organization-routes.ts';
import {sdkRoutes} from './sdk/routes.ts';
import type {Services} from './services.ts';
import {portalTeamRoutes} from './team/portal-routes.ts';
import {templateRoutes} from './templates/organization-routes.ts';
import {usageRoutes} from './usage/organization-routes.ts';

/** Every route except the link paths (`resolutionRoutes`), grouped by surface (contract/hosts 1). */
const surfaces: Route[] = [
	...healthRoutes,
	...documentRoutes(() => routes),
	...metricsRoutes,
	...associationRoutes,
	...identityWebhookRoutes,
	...gatewayWebhookRoutes,
	...matchRoutes,
	...linkRoutes,
	...sdkRoutes,
	...organizationRoutes,
	...apiKeyRoutes,
	...appConfigRoutes,
	...domainRoutes,
	...internalRoutes,
	...templateRoutes,
	...channelRoutes,
	...statsRoutes,
	...clickStreamRoutes,
	...matchAttemptRoutes,
	...privacyRoutes,
	...identityEventRoutes,
	...billingEventRoutes,
	...statusRoutes,
	...doctorRoutes,
	...portalOnboardingRoutes,
	...portalTeamRoutes,
	...portalBillingRoutes,
	...portalStatsRoutes,
	...usageRoutes,
	...eventRoutes,
	...deviceRoutes,
	...auditRoutes,
	...opsBillingRoutes,
	...devRoutes,
];

/** The one table of routes: mounted by the server, walked by the API document and by tests. */
export const routes: readonly Route[] = [...surfaces, ...resolutionRoutes];

const preflight: Record<string, string> = {
	'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
	'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-API-Key, X-Request-Id',
	'Access-Control-Expose-Headers': 'X-Request-Id, X-Error-Code',
	'Access-Control-Max-Age': '86400',
};

type Handler = (ctx: Exchange) => Promise<void>;

const requestedHostname = ({clientIp}: Services, request: IncomingMessage): string | null => {
	const {headers} = request;
	const isForwarded = headers['x-forwarded-host'] !== undefined;
	return hostnameOf((isForwarded ? clientIp.forwarded(request).host : null) ?? headers.host);
};

/** Registers a route on a router. @returns the route's handler. */
const mount = (router: Router, services: Services, route: Route): Handler => {
	/**
	 * On a custom domain `/spring/data` has the path of a page, `/:orgKey/:shortCode`. It is data unless its first segment
	 * is the domain's orgKey (contract/hosts 4).
	 */
	const isForAnyOrigin = ({state: {domainKey}, params = {}}: Exchange): boolean =>
		route.cors === 'data'
			? domainKey !== undefined && params['shortCode'] === 'data' && params['orgKey'] !== domainKey
			: route.cors;
	const allowAnyOrigin = (ctx: Exchange) => {
		if (isForAnyOrigin(ctx)) {
			ctx.set({'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'X-Request-Id, X-Error-Code'});
		}
	};
	const answer: Handler = async (ctx) => {
		ctx.state.route = route.path;
		const served = serves(services, route, ctx);
		if (!(typeof served === 'boolean' ? served : await served)) {
			throw unknownPath();
		}

		allowAnyOrigin(ctx);
		await route.respond(ctx, services);
	};
	router.register(route.path, [route.method], answer);
	if (route.cors) {
		router.register(route.path, ['OPTIONS'], (ctx) => {
			if (!isForAnyOrigin(ctx)) {
				throw unknownPath();
			}

			allowAnyOrigin(ctx);
			ctx.set(preflight);
			ctx.status = 204;
		});
	}

	return answer;
};

/**
 * Whether a route can bypass Koa, which takes a fifth of such a request's time: a POST to a path without parameters,
 * answered with plain JSON. With a query it goes to the router.
 */
const isPlain = ({method, path, declared, schemas}: Route): boolean =>
	method === 'POST' &&
	!path.includes(':') &&
	schemas.body !== 'stream' &&
	Joi.isSchema(declared.answer) &&
	declared.otherAnswers === undefined;

/**
 * Handles all requests that the hot path passes on. Plain routes bypass Koa, in the same envelope. Koa's middleware in order:
 * 1. the envelope around everything;
 * 2. old addresses of custom domains, whose prefix may be the first segment of a surface;
 * 3. the surfaces;
 * 4. 404 for the rest below a reserved first segment;
 * 5. resolution, last because `/:orgKey/:shortCode` matches nearly any path.
 */
export const createApp = (services: Services): RequestListener => {
	const app = new Koa();
	// The envelope answers all errors itself; Koa only reports callers that disconnected.
	app.silent = true;
	app.on('error', (error: unknown) => services.log.debug({err: error}, 'connection'));

	const api = new Router({sensitive: true});
	const plain = new Map<string, Handler>();
	for (const route of surfaces) {
		const answer = mount(api, services, route);
		if (isPlain(route) && api.match(route.path, 'POST').pathAndMethod[0]?.path === route.path) {
			plain.set(route.path, answer);
		}
	}

	const resolution = new Router({sensitive: true});
	for (const route of resolutionRoutes) {
		mount(resolution, services, route);
	}

	const enveloped = envelope(services);
	app.use((ctx, next) =>
		enveloped(ctx, async () => {
			ctx.state.hostname = requestedHostname(services, ctx.req);
			try {
				await next();
				if (ctx.status === 404 && ctx.body === undefined && !ctx.headerSent && ctx.respond !== false) {
					throw unknownPath();
				}
			} catch (error) {
				if (!(await answeredByPage(services, ctx, error))) {
					throw error;
				}
			}
		}),
	);
	const resolve = resolution.routes() as Koa.Middleware;
	app.use(async (ctx, next) => {
		const [, first = ''] = ctx.path.split('/');
		const domain = servedOnEveryHost.has(first) ? null : await domainOfHost(services, ctx);
		Object.assign(ctx.state, {domainKey: domain?.orgKey});
		const rest = domain === null ? null : pathBehindPrefix(domain.pathPrefixes, ctx.path);
		if (rest === null) {
			await next();
			return;
		}

		// The router reads this path instead of the one that was sent.
		Object.assign(ctx, {newRouterPath: rest});
		await resolve(ctx, async () => {});
	});
	app.use(api.routes());
	app.use((ctx, next) => {
		const [, first = ''] = ctx.path.split('/');
		if (reservedSegments.has(first)) {
			throw unknownPath();
		}

		return next();
	});
	app.use(resolve);
	const koa = app.callback();
	return (request, response) => {
		const answer = request.method === 'POST' ? plain.get(request.url ?? '') : undefined;
		if (answer === undefined) {
			koa(request, response);
			return;
		}

		const {exchange, send} = createExchange(request, response, request.url ?? '');
		exchange.state.hostname = requestedHostname(services, request);
		enveloped(exchange, () => answer(exchange))
			.then(send)
			.catch((error: unknown) => {
				services.log.error({err: error}, 'could not send a response');
				response.destroy();
			});
	};
};
