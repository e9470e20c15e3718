import {once} from 'node:events';
import {connect} from 'node:net';
import type {TestService} from '../../helpers/service.ts';

export const CHUNK = Buffer.alloc(64 * 1024, ' ');
export const LIVE = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A connection as a proxy has it, which sends all of a request before it gives up. */
export const openWith = async (service: Pick<TestService, 'url'>, bytes = '') => {
	const socket = connect({port: Number(new URL(service.url).port), host: '127.0.0.1', allowHalfOpen: true});
	await once(socket, 'connect');
	let [text, isEnded, isClosed] = ['', false, false];
	const errors: string[] = [];
	socket.on('data', (chunk) => {
		text += chunk.toString('latin1');
	});
	socket.on('end', () => {
		isEnded = true;
	});
	socket.on('close', () => {
		isClosed = true;
	});
	socket.on('error', ({message}) => errors.push(message));
	socket.write(bytes);
	return {
		text: () => text,
		statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status)),
		isEnded: () => isEnded,
		isClosed: () => isClosed,
		/** In a turn of its own: a connection that is gone answers at once, and would be asked for ever. */
		write: (part: Buffer | string = CHUNK) =>
			new Promise<void>((resolve) => {
				socket.write(part, () => setImmediate(resolve));
			}),
		/** Waits until so much has come, or the connection is over. */
		until: (isEnough: () => boolean) =>
			new Promise<void>((resolve) => {
				const check = () => {
					if (isEnough() || isEnded || isClosed) {
						resolve();
					}
				};
				socket.on('data', check).on('end', check).on('close', check);
				check();
			}),
		/** Waits until the service ends the connection, and ends it from here. @returns the errors that were met. */
		end: async () => {
			if (!isEnded) {
				await once(socket, 'end');
			}

			socket.end();
			await once(socket, 'close');
			return errors;
		},
		destroy: () => socket.destroy(),
	};
};
