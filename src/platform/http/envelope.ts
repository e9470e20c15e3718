import {randomUUID} from 'node:crypto';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {setImmediate as nextTurn} from 'node:timers/promises';
import type {Logger} from 'pino';
import type {Clock} from '../clock.ts';
import {isConnectionFault} from '../connection-fault.ts';
import {databaseUnavailable, HttpError, serverFailure} from '../errors.ts';
import type {Metrics} from '../metrics/metrics.ts';

/** The state of a request in the pipeline. */
type ExchangeState = {
	requestId: string;
	/** The pattern of its route. */
	route?: string;
	/** The log with the request's id. */
	log: () => Logger;
};

/** A request and its answer, as routes and the envelope see them: the part of Koa's context that they use. */
export type Exchange = {
	req: IncomingMessage;
	res: ServerResponse;
	method: string;
	path: string;
	/** The parameters in the path. */
	params?: Record<string, string>;
	state: ExchangeState;
	status: number;
	body: unknown;
	/** Adds to the headers of the answer. */
	set(headers: Record<string, string>): void;
};

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's X-Request-Id if it is 1 to 128 visible ASCII characters, otherwise a new UUID (contract/requests 2). */
export const requestIdOf = (header: string | string[] | undefined): string =>
	typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID();

/** A request URL's path as it was sent, without the query, and without the origin that proxies may send (RFC 9112, 3.2.2). */
export const rawPath = (url: string | undefined): string =>
	/^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(url ?? '')?.[1] || '/';

/** The refusal of an error: itself, 503 if the database is unavailable, otherwise 500. */
export const refusalOf = (error: unknown): HttpError => {
	if (error instanceof HttpError) {
		return error;
	}

	return isConnectionFault(error) ? databaseUnavailable() : serverFailure();
};

/** The headers of every error in JSON. */
export const errorHeaders = ({code, retryAfter}: HttpError): Record<string, string> => ({
	'Cache-Control': 'no-store',
	'X-Error-Code': code,
	...(retryAfter === null ? {} : {'Retry-After': String(retryAfter)}),
});

/** The body of every error response (contract/requests 1). */
export const errorBody = (
	error: HttpError,
	{now, url, requestId}: {now: Date; url: string | undefined; requestId: string},
) => ({
	statusCode: error.status,
	error: error.statusName,
	message: error.message,
	details: error.details,
	...error.extras,
	timestamp: now.toISOString(),
	path: rawPath(url),
	requestId,
});

/**
 * The outermost layer: gives the request its id, turns every error into the one envelope, and logs the request when it
 * has ended. Koa's own error answers are text, so no error may pass this layer.
 */
export const envelope =
	({clock, log, metrics}: {clock: Clock; log: Logger; metrics: Pick<Metrics, 'request'>}) =>
	async (ctx: Exchange, answer: () => Promise<void>): Promise<void> => {
		const started = performance.now();
		const requestId = requestIdOf(ctx.req.headers['x-request-id']);
		// Nearly all requests log nothing.
		let ownLog: Logger | null = null;
		const requestLog = (): Logger => {
			ownLog ??= log.child({requestId});
			return ownLog;
		};
		ctx.state.requestId = requestId;
		ctx.state.log = requestLog;
		ctx.set({'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff'});
		try {
			await answer();
		} catch (error) {
			const refusal = refusalOf(error);
			if (refusal.status >= 500) {
				requestLog().error({err: error}, 'request failed');
			}

			ctx.status = refusal.status;
			ctx.set(errorHeaders(refusal));
			ctx.body = errorBody(refusal, {now: clock.now(), url: ctx.req.url, requestId});
			// A body that arrived together with the headers ends with this turn.
			if (!ctx.req.complete) {
				await nextTurn();
			}

			// The rest of the body would be discarded (rest-of-body.ts).
			if (!ctx.req.complete) {
				ctx.set({Connection: 'close'});
			}
		}

		const milliseconds = performance.now() - started;
		metrics.request(ctx.method, ctx.state.route ?? null, ctx.status, milliseconds / 1000);
		if (log.isLevelEnabled('debug')) {
			const {method, status} = ctx;
			requestLog().debug({method, path: rawPath(ctx.req.url), status, milliseconds}, 'request');
		}
	};
