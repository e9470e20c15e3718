import type {IncomingMessage, RequestListener} from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import {reservedSegments} from './accounts/organizations/org-key.ts';
import type {Route} from './accounts/route.ts';
import {pathBehindPrefix, servedOnEveryHost} from './links/domains/path-prefixes.ts';
import {unknownPath} from './platform/errors.ts';
import {envelope} from './platform/http/envelope.ts';
import type {Exchange} from './platform/http/exchange.ts';
import {hostnameOf} from './platform/http/request-host.ts';
import {surfaces} from './routes.ts';
import type {Services} from './services.ts';
import {domainOfHost, serves} from './visits/resolution/admit-host.ts';
import {answeredByPage} from './visits/resolution/error-pages.ts';
import {resolutionRoutes} from './visits/resolution/routes.ts';
import {handedOn} from './visits/resolution/visit/resolve-link.ts';

const preflight: Record<string, string> = {
	'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
	'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-API-Key, X-Request-Id',
	'Access-Control-Expose-Headers': 'X-Request-Id, X-Error-Code',
	'Access-Control-Max-Age': '86400',
};

const requestedHostname = ({clientIp}: Services, request: IncomingMessage): string | null => {
	const {headers} = request;
	const isForwarded = headers['x-forwarded-host'] !== undefined;
	return hostnameOf((isForwarded ? clientIp.forwarded(request).host : null) ?? headers.host);
};

/** Registers a route on a router. */
const mount = (router: Router, services: Services, route: Route): void => {
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
	router.register(route.path, [route.method], async (ctx: Exchange) => {
		ctx.state.route = route.path;
		const served = serves(services, route, ctx);
		if (!(typeof served === 'boolean' ? served : await served)) {
			throw unknownPath();
		}

		allowAnyOrigin(ctx);
		await route.respond(ctx, services);
	});
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
};

/**
 * Handles all requests that the hot path passes on. The middleware in order:
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
	for (const route of surfaces) {
		mount(api, services, route);
	}

	const resolution = new Router({sensitive: true});
	for (const route of resolutionRoutes) {
		mount(resolution, services, route);
	}

	const enveloped = envelope(services);
	app.use((ctx, next) =>
		enveloped(ctx, async () => {
			ctx.state.hostname = requestedHostname(services, ctx.req);
			Object.assign(ctx.state, {visitWait: handedOn.get(ctx.req)?.wait});
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
	return app.callback();
};
