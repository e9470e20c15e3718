import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import {setTimeout as wait} from 'node:timers/promises';
import type {Call, FaultInput, Faults} from '../identity-provider/faults.ts';

/** An answer: JSON, or a page for people. */
export type Reply = {status: number; headers?: Record<string, string>} & ({json: unknown} | {html: string});

/** What a gateway answers, and how it words a failure that a test asked for. Neither throws. */
export type GatewayApi = {answer(call: Call): Reply; failure(call: Call, fault: FaultInput): Reply};

type Given = GatewayApi & {faults: Faults; calls: Call[]; port: number};

const refuses = ({status, code, rawBody}: FaultInput): boolean =>
	[status, code, rawBody].some((part) => part !== undefined);

const write = (call: Call, response: ServerResponse, reply: Reply): void => {
	call.status = reply.status;
	const isPage = 'html' in reply;
	const type = isPage ? 'text/html; charset=utf-8' : 'application/json';
	response.writeHead(reply.status, {'content-type': type, ...reply.headers});
	response.end(isPage ? reply.html : JSON.stringify(reply.json));
};

const respond = async (call: Call, response: ServerResponse, given: Given): Promise<void> => {
	const fault = given.faults.take(call);
	if (fault === null) {
		write(call, response, given.answer(call));
		return;
	}

	if (fault.delay !== undefined) {
		await wait(fault.delay);
	}

	const fails = fault.hang || fault.drop || refuses(fault);
	const performed = fault.afterwards || !fails ? given.answer(call) : null;
	if (fault.hang) {
		return;
	}

	if (fault.drop) {
		response.destroy();
		return;
	}

	if (fault.rawBody !== undefined) {
		write(call, response, {status: fault.status ?? 502, html: fault.rawBody});
		return;
	}

	write(call, response, performed !== null && !fails ? performed : given.failure(call, fault));
};

const recordCall = async (request: IncomingMessage): Promise<Call> => {
	const url = new URL(request.url ?? '/', 'http://localhost');
	const body = await text(request);
	return {
		method: request.method ?? '',
		path: url.pathname,
		query: url.searchParams,
		headers: request.headers,
		body: body === '' ? undefined : body,
		status: null,
	};
};

/** Listens on loopback, records every request, and lets faults meet them. A request that is cut off is none. */
export const startGatewayServer = async (given: Given): Promise<{url: string; stop(): Promise<void>}> => {
	const server = createServer(async (request, response) => {
		const call = await recordCall(request).catch(() => null);
		if (call !== null) {
			given.calls.push(call);
			await respond(call, response, given);
		}
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(given.port, '127.0.0.1', resolve);
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		stop: async () => {
			const closed = new Promise((resolve) => {
				server.close(resolve);
			});
			server.closeAllConnections();
			await closed;
		},
	};
};
