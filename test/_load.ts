import {connect, type Socket} from 'node:net';

/** A request as sent by a client, and its outcome. */
export type Sent = {outcome: 'under way' | 'answered' | string; status: number};

const BODY = '{"platform":"ios"}';
const HEADS = [
	'GET /health/live HTTP/1.1\r\nHost: localhost\r\n',
	`POST /match HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n`,
];
export const CLIENTS = 24;

const isWhole = (text: string): boolean => {
	const end = text.indexOf('\r\n\r\n') + 4;
	const [, length] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
	return end > 3 && length !== undefined && text.length >= end + Number(length);
};

/** Sends a request. @returns whether the connection is to be used again. */
const exchange = (socket: Socket, request: Sent, {number, isKept}: {number: number; isKept: boolean}) =>
	new Promise<boolean>((resolve) => {
		let text = '';
		const end = (outcome: string, keepAlive: boolean): void => {
			socket.removeAllListeners();
			socket.on('error', () => {});
			request.outcome = outcome;
			resolve(keepAlive);
		};
		socket.on('data', (chunk) => {
			text += chunk.toString('latin1');
			if (isWhole(text)) {
				request.status = Number(text.slice(9, 12));
				end('answered', isKept && !/\r\nconnection: close/i.test(text));
			}
		});
		socket.on('error', (error) => end(error.message, false));
		socket.on('close', () => end('closed without an answer', false));
		const head = `${HEADS[number % 2]}${isKept ? '' : 'Connection: close\r\n'}\r\n`;
		socket.write(number % 2 === 0 ? head : head + BODY);
	});

/** @returns null if the port refuses connections. */
const open = (port: number): Promise<Socket | null> =>
	new Promise((resolve) => {
		const socket = connect({port, host: '127.0.0.1', noDelay: true});
		socket.once('connect', () => resolve(socket.removeAllListeners()));
		socket.once('error', () => resolve(null));
	});

/**
 * Clients that send one request after the other until the port refuses them: half of them on one connection, half on a
 * new one for each request; every other request has a body.
 */
export const createLoad = (port: number) => {
	const sent: Sent[] = [];
	let answered = 0;
	const waiting = new Set<() => void>();

	const client = async (isKept: boolean): Promise<void> => {
		let number = 0;
		for (let socket = await open(port); socket !== null; socket = await open(port)) {
			let keepAlive = true;
			while (keepAlive) {
				const request: Sent = {outcome: 'under way', status: 0};
				sent.push(request);
				keepAlive = await exchange(socket, request, {number, isKept});
				number += 1;
				answered += 1;
				for (const check of waiting) {
					check();
				}
			}

			socket.destroy();
		}
	};

	const ended = Promise.all(Array.from({length: CLIENTS}, (_, index) => client(index % 2 === 0)));
	return {
		/** Resolves when so many more requests have ended. */
		ends: (count: number): Promise<void> => {
			const goal = answered + count;
			return new Promise((resolve) => {
				const check = () => {
					if (answered >= goal) {
						waiting.delete(check);
						resolve();
					}
				};
				waiting.add(check);
				check();
			});
		},
		/** Requests that were written by now. */
		sent: (): readonly Sent[] => [...sent],
		/** Resolves when no client is left. */
		ended,
	};
};
