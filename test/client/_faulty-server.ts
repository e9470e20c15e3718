import {createServer, type IncomingHttpHeaders, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';
import {type LinkData, Oplink, type OplinkOptions, type UpdateRequired} from '../../src/client/oplink.ts';

/** The fate of a request: a whole answer, a closed connection, silence, or a truncated answer. */
export type Fate = {status: number; body?: unknown; headers?: Record<string, string>} | 'drop' | 'hang' | 'break off';

export type SeenRequest = {method: string; url: string; headers: IncomingHttpHeaders; body: unknown};

export const rateLimited = (seconds: number): Fate => ({
	status: 429,
	body: {statusCode: 429, message: `Rate limit exceeded. Retry after ${seconds} second(s).`},
});

const answer = (response: ServerResponse, fate: Fate): void => {
	if (fate === 'drop') {
		response.destroy();
	} else if (fate === 'break off') {
		response.writeHead(200, {'content-type': 'application/json', 'content-length': '500'});
		response.write('{"linkId": "5', () => response.destroy());
	} else if (fate !== 'hang') {
		const {status, body = {}, headers} = fate;
		response.writeHead(status, {'content-type': 'application/json', ...headers});
		response.end(typeof body === 'string' ? body : JSON.stringify(body));
	}
};

/**
 * A server that meets its requests with the given fates in turn, and every further one with the last of them; and a
 * client of it, whose waits are noted and not waited, and whose log is kept.
 */
export const faultyServer = async (
	t: ExecutionContext,
	fates: readonly [Fate, ...Fate[]],
	options: Partial<OplinkOptions> = {},
) => {
	const requests: SeenRequest[] = [];
	const server = createServer(async (request, response) => {
		const {method = '', url = '', headers} = request;
		const body = await text(request);
		requests.push({method, url, headers, body: body === '' ? undefined : JSON.parse(body)});
		answer(response, fates[Math.min(requests.length, fates.length) - 1] ?? 'drop');
	});
	// On a busy machine a connection would be ended for standing idle just when the next request comes over it.
	server.keepAliveTimeout = 0;
	await new Promise<void>((resolve) => {
		server.listen(0, '127.0.0.1', resolve);
	});
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});

	const waits: number[] = [];
	const log: Array<{message: string; error: unknown}> = [];
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const oplink = new Oplink({
		baseUrl,
		clientKey: 'opl_sdk_test',
		serverKey: 'opl_api_test',
		sleep: async (seconds) => {
			waits.push(seconds);
		},
		log: (message, error) => {
			log.push({message, error});
		},
		...options,
	});
	return {oplink, requests, waits, log, baseUrl};
};

/** The links that the client hands over from now on. */
export const linksOf = (oplink: Oplink): LinkData[] => {
	const links: LinkData[] = [];
	oplink.onLink((link) => void links.push(link));
	return links;
};

/** The updates that the client asks for from now on. */
export const updatesOf = (oplink: Oplink): UpdateRequired[] => {
	const updates: UpdateRequired[] = [];
	oplink.onUpdateRequired((required) => void updates.push(required));
	return updates;
};

export const session: Fate = {status: 200, body: {deviceId: 'device-0001', sessionId: 'session-1', isNewDevice: true}};
