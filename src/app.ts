import type {RequestListener} from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import {admission} from './accounts/admission.ts';
import type {Route} from './accounts/auth/route.ts';
import {unknownPath} from './platform/errors.ts';
import type {Exchange} from './platform/http/envelope.ts';
import {envelope} from './platform/http/envelope.ts';
import {anyOrigin, preflight} from './platform/http/headers.ts';
import {surfaces} from './routes.ts';
import type {Services} from './services.ts';

/** Registers a route on a router. */
const mount = (router: Router, services: Services, route: Route): void => {
	router.register(route.path, [route.method], async (ctx: Exchange) => {
		ctx.state.route = route.path;
		if (route.cors) {
			ctx.set(anyOrigin);
		}

		await route.respond(ctx, services, admission);
	});
	if (route.cors) {
		router.register(route.path, ['OPTIONS'], (ctx) => {
			ctx.set({...anyOrigin, ...preflight});
			ctx.status = 204;
		});
	}
};

/**
 * Answers all requests that the door (`visits/resolution/door.ts`) passes on: those of the API, and those that every host
 * serves. The envelope is around the routes, and any other path is 404.
 */
export const createApp = (services: Services): RequestListener => {
	const app = new Koa();
	// The envelope answers all errors itself; Koa only reports callers that disconnected.
	app.silent = true;
	app.on('error', (error: unknown) => services.log.debug({err: error}, 'connection'));

	const router = new Router({sensitive: true});
	for (const route of surfaces) {
		mount(router, services, route);
	}

	const enveloped = envelope(services);
	app.use((ctx, next) =>
		enveloped(ctx, async () => {
			await next();
			if (ctx.status === 404 && ctx.body === undefined && !ctx.headerSent && ctx.respond !== false) {
				throw unknownPath();
			}
		}),
	);
	app.use(router.routes());
	return app.callback();
};
