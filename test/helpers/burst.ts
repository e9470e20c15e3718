import {once} from 'node:events';
import {connect} from 'node:net';

/** Statuses of concurrent requests, and the milliseconds from the first request to the last answer. */
export type Burst = {statuses: number[]; lasted: number};

export type Asked = {method: string; path: string; headers?: Record<string, string>; body?: unknown};

/** Enough connections for several per worker. */
const CONNECTIONS = 16;

const requestText = ({method, path, headers = {}, body}: Asked): string => {
	const text = body === undefined ? '' : JSON.stringify(body);
	const lines = Object.entries({
		Host: 'localhost',
		...headers,
		...(body === undefined
			? {}
			: {'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text))}),
	}).map(([name, value]) => `${name}: ${value}\r\n`);
	return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
};

/**
 * The same request many times at once, written without waiting for answers. Hundreds arrive within a moment, also on a
 * busy machine, where a usual client would need seconds.
 */
export const burst = async (url: string, count: number, asked: Asked): Promise<Burst> => {
	const {hostname, port} = new URL(url);
	const sockets = Array.from({length: CONNECTIONS}, () => connect(Number(port), hostname).setEncoding('latin1'));
	await Promise.all(sockets.map((socket) => once(socket, 'connect')));
	const text = requestText({...asked, headers: {Host: `localhost:${port}`, ...asked.headers}});
	const started = performance.now();
	const statuses = await Promise.all(
		sockets.map(async (socket, index) => {
			const share = Math.floor(count / CONNECTIONS) + (index < count % CONNECTIONS ? 1 : 0);
			socket.write(text.repeat(share));
			let received = '';
			const found = () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
			for await (const chunk of share === 0 ? [] : socket) {
				received += chunk;
				if (found().length === share) {
					break;
				}
			}

			return found();
		}),
	);
	const lasted = performance.now() - started;
	for (const socket of sockets) {
		socket.destroy();
	}

	return {statuses: statuses.flat(), lasted};
};
