import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';
import {type CliOptions, type CommandLine, runCli} from './_run-cli.ts';

export type RecordedRequest = {
	method: string;
	/** Path with the query, as sent. */
	url: string;
	authorization: string | undefined;
	headers: IncomingMessage['headers'];
	/** The parsed JSON, or undefined without a body. */
	body: unknown;
};
type Answer = {status?: number; body?: unknown; headers?: Record<string, string>};
export type Responder = (request: RecordedRequest) => Answer;

/** A path that is answered by hand, request body unread. */
export type RawHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * A server that records its requests. `answers` is indexed by `METHOD /path` without the query; everything else is 404.
 */
export const startRecordingServer = async (
	t: ExecutionContext,
	answers: Record<string, Answer | Responder | {raw: RawHandler}>,
): Promise<{
	url: string;
	requests: RecordedRequest[];
	/** What has been asked for, in order. */
	urls: () => string[];
	env: Record<string, string>;
	/** Runs a command line that asks this server with the admin token. */
	cli: (argv: CommandLine, options?: CliOptions) => ReturnType<typeof runCli>;
}> => {
	const requests: RecordedRequest[] = [];
	const server = createServer(async (request, response) => {
		const {method = '', url = '', headers} = request;
		const responder = answers[`${method} ${url.split('?')[0]}`];
		const recorded = {method, url, headers, authorization: headers.authorization, body: undefined as unknown};
		requests.push(recorded);
		if (responder && 'raw' in responder) {
			await responder.raw(request, response);
			return;
		}

		const body = await text(request);
		recorded.body = body === '' ? undefined : JSON.parse(body);
		const missing: Answer = {status: 404, body: {statusCode: 404, message: 'Not found'}};
		const answer = (typeof responder === 'function' ? responder(recorded) : responder) ?? missing;
		response.writeHead(answer.status ?? 200, {'content-type': 'application/json', ...answer.headers});
		response.end(Buffer.isBuffer(answer.body) ? answer.body : JSON.stringify(answer.body ?? {}));
	});
	// As the real server: a CLI that a busy machine delays meets no connection that was closed meanwhile.
	server.keepAliveTimeout = 65_000;
	await new Promise<void>((resolve) => {
		server.listen(0, '127.0.0.1', resolve);
	});
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const env = {OPLINK_URL: url, OPLINK_ADMIN_TOKEN: 'admin-secret'};
	const cli = (argv: CommandLine, options: CliOptions = {}) =>
		runCli(argv, {...options, env: {...env, ...options.env}});
	return {url, requests, urls: () => requests.map((request) => request.url), env, cli};
};

/** A list as the API answers it. */
export const pageOf = (data: unknown[], {total = data.length, page = 1, limit = 20} = {}) => ({
	data,
	total,
	page,
	limit,
});

/** An unused address of this machine; a port that was just released may be another test's next. */
export const closedAddress = 'http://127.0.0.1:2';
