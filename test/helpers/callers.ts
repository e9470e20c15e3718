import {Agent, request as httpRequest} from 'node:http';
import {recordAnswer} from './answers.ts';
import type {TestService} from './service.ts';

/** A whole answer. `body` is the parsed JSON, or undefined for other types. */
export type Answer = {
	status: number;
	headers: Record<string, string | string[] | undefined>;
	text: string;
	bytes: Buffer;
	// biome-ignore lint/suspicious/noExplicitAny: a test asserts the shape that it names, on the parsed answer
	body: any;
};

export type Headers = Record<string, string>;

export type Caller = {
	/** The caller's address as seen by the service. */
	address: string;
	get(path: string, headers?: Headers): Promise<Answer>;
	head(path: string, headers?: Headers): Promise<Answer>;
	options(path: string, headers?: Headers): Promise<Answer>;
	delete(path: string, headers?: Headers): Promise<Answer>;
	post(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
	put(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
	patch(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
};

const parse = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
};

/** Connections are reused, as in browsers and SDKs; a burst waits for one, because listen queues are limited. */
const agent = new Agent({keepAlive: true, maxSockets: 250});

/** One request. node:http and not fetch, because tests set `Host` and send requests that fetch refuses. */
export const send = (
	url: string,
	method: string,
	path: string,
	headers: Headers = {},
	body?: string | Buffer,
): Promise<Answer> =>
	new Promise((resolve, reject) => {
		const {hostname, port} = new URL(url);
		const request = httpRequest({hostname, port, method, path, headers, agent}, (response) => {
			const chunks: Buffer[] = [];
			response.on('data', (chunk: Buffer) => chunks.push(chunk));
			response.on('error', reject);
			response.on('end', () => {
				const bytes = Buffer.concat(chunks);
				const text = bytes.toString();
				const status = response.statusCode ?? 0;
				recordAnswer({method, path}, {status, headers: response.headers, text});
				resolve({status, headers: response.headers, text, bytes, body: parse(text)});
			});
		});
		request.on('error', reject);
		request.end(body);
	});

let lastAddress = 0;

/** Each caller has its own address, so that no test uses up another's limit. */
const nextAddress = (): string => {
	lastAddress += 1;
	return `10.${(lastAddress >> 16) & 255}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
};

const caller = ({url}: Pick<TestService, 'url'>, credential: Headers, address = nextAddress(), base = ''): Caller => {
	const own: Headers = {'X-Forwarded-For': address, ...credential};
	const plain = (method: string) => (path: string, headers?: Headers) =>
		send(url, method, base + path, {...own, ...headers});
	const withBody = (method: string) => (path: string, body?: unknown, headers?: Headers) => {
		if (body === undefined) {
			return send(url, method, base + path, {...own, ...headers});
		}

		const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
		const content = {'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(raw))};
		return send(url, method, base + path, {...content, ...own, ...headers}, raw);
	};
	return {
		address,
		get: plain('GET'),
		head: plain('HEAD'),
		options: plain('OPTIONS'),
		delete: plain('DELETE'),
		post: withBody('POST'),
		put: withBody('PUT'),
		patch: withBody('PATCH'),
	};
};

/** Somebody without a credential. */
export const anonymous = (service: Pick<TestService, 'url'>, address?: string): Caller => caller(service, {}, address);

/** The operator, with the admin token. @param base what each path is below. */
export const admin = (service: Pick<TestService, 'url' | 'adminToken'>, base = ''): Caller =>
	caller(service, {Authorization: `Bearer ${service.adminToken}`}, nextAddress(), base);

/** A machine with an API key. */
export const withKey = (service: Pick<TestService, 'url'>, rawKey: string): Caller =>
	caller(service, {Authorization: `Bearer ${rawKey}`});
