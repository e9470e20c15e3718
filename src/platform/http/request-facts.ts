import type {IncomingHttpHeaders, IncomingMessage} from 'node:http';
import type {Logger} from 'pino';
import type {Services} from '../../services.ts';
import type {Exchange} from './exchange.ts';

/** The parts of the request that a handler may read besides the validated ones. */
export type RequestFacts = {
	/** The caller's address, behind trusted proxies. */
	ip: string;
	/** The requested host name, lower case and without port; null if none was sent. */
	hostname: string | null;
	headers: IncomingHttpHeaders;
	/** The path as sent, without the query. */
	path: string;
	isHead: boolean;
	/** The incoming body, for routes with `body: 'stream'`. */
	stream: IncomingMessage;
	requestId: string;
	/** Ends with the connection, and after the answer. */
	hungUp: () => AbortSignal;
	/** The log with the request's id. */
	log: () => Logger;
};

export const requestFacts = (ctx: Exchange, services: Pick<Services, 'clientIp'>): RequestFacts => ({
	ip: services.clientIp.ip(ctx.req),
	hostname: services.clientIp.hostname(ctx.req),
	headers: ctx.req.headers,
	path: ctx.path,
	isHead: ctx.method === 'HEAD',
	stream: ctx.req,
	requestId: ctx.state.requestId,
	hungUp: () => {
		const ended = new AbortController();
		ctx.res.once('close', () => ended.abort());
		if (ctx.res.destroyed || ctx.req.socket.destroyed) {
			ended.abort();
		}

		return ended.signal;
	},
	log: ctx.state.log,
});
