import {once} from 'node:events';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';

export type Received = {path: string; headers: Record<string, string | string[] | undefined>; body: string};

/** Stands where the service's receivers would be, keeps what comes, and answers 200. */
export const startReceiver = async (
	t: ExecutionContext,
): Promise<{url: string; received: Received[]; next(): Promise<void>}> => {
	const received: Received[] = [];
	const waiting: Array<() => void> = [];
	const server = createServer(async (request, response) => {
		received.push({path: request.url ?? '', headers: request.headers, body: await text(request)});
		response.end('{}');
		waiting.shift()?.();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.close();
		server.closeAllConnections();
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		received,
		next: () => new Promise((resolve) => waiting.push(resolve)),
	};
};
