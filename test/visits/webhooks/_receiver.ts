import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text as textOf} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import type {TestService} from '../../helpers/service.ts';

export type Received = {
	headers: Record<string, string>;
	body: string;
	json: {type: string; timestamp: string; data: Record<string, unknown>};
};

type Respond = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

/** A receiver of webhooks on this machine. Answers 204 unless the test answers. */
export const startReceiver = async (t: Pick<ExecutionContext, 'teardown'>) => {
	const all: Received[] = [];
	let respond: Respond = (response) => response.writeHead(204).end();
	const server = createServer((request, response) => {
		textOf(request).then(
			(body) => {
				const received = {headers: request.headers as Record<string, string>, body, json: JSON.parse(body)};
				all.push(received);
				respond(response, received, request);
				server.emit('received');
			},
			() => {},
		);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
	return {
		url,
		all,
		respond: (next: Respond) => {
			respond = next;
		},
		/** Resolves with what was received once there are so many that meet the condition. */
		until: async (count: number, isWanted: (one: Received) => boolean = () => true): Promise<Received[]> => {
			for (;;) {
				const found = all.filter(isWanted);
				if (found.length >= count) {
					return found;
				}

				await once(server, 'received');
			}
		},
	};
};

/** The deliveries of an endpoint, the newest first. */
export const deliveriesOf = async ({operator}: TestOrganization, path: string) =>
	(await operator.get(`${path}/deliveries`)).body.data;

/** A new endpoint, made by the operator. */
export const endpoint = async ({operator}: TestOrganization, body: object) => {
	const {status, body: made, text} = await operator.post('/webhook-endpoints', body);
	if (status !== 201) {
		throw new Error(`an endpoint got ${status}: ${text}`);
	}

	return made as {id: string; secret: string; url: string};
};

/** A new organization, as `acme`, its endpoint of those types, the `path` of that for the operator, and its receiver. */
export const subscribed = async (t: Pick<ExecutionContext, 'teardown'>, service: TestService, ...events: string[]) => {
	const acme = await organization(service);
	const receiver = await startReceiver(t);
	const {id, secret} = await endpoint(acme, {url: receiver.url, events});
	return {acme, receiver, id, secret, path: `/webhook-endpoints/${id}`};
};

/** Waits until a row meets a condition, by looking again and again. */
export const untilTrue = async (look: () => Promise<boolean>): Promise<void> => {
	while (!(await look())) {
		await new Promise(setImmediate);
	}
};
