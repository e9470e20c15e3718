import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Logger} from 'pino';

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
