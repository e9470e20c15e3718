import {connect, type Socket} from 'node:net';

/** What a load came to. */
export type Measured = {answered: number; seconds: number; bad: number; latencies: Float64Array};

/** Addresses that requests come from, as a proxy tells them. */
const addressOf = (number: number): string => `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;

const AGENTS = [
	'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
	'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Mobile Safari/537.36',
];

/**
 * Asks for a path over `connections`, each as soon as it has its answer, for `seconds`. A client of its own on bare
 * sockets, because node:http's would cost more than what it measures.
 */
export const load = async (
	target: URL,
	{connections, seconds, addresses}: {connections: number; seconds: number; addresses: number},
): Promise<Measured> => {
	const latencies: number[] = [];
	let sent = 0;
	let bad = 0;
	let isOver = false;
	const request = (): string => {
		sent += 1;
		return `GET ${target.pathname} HTTP/1.1\r\nHost: ${target.host}\r\nX-Forwarded-For: ${addressOf(sent % addresses)}\r\nUser-Agent: ${AGENTS[sent % AGENTS.length]}\r\nAccept: text/html,application/xhtml+xml\r\nAccept-Language: en-US,en;q=0.9\r\n\r\n`;
	};
	const visitor = (): Promise<void> =>
		new Promise((resolve, reject) => {
			const socket: Socket = connect(Number(target.port), target.hostname);
			let [since, left, head] = [0, 0, ''];
			const ask = () => {
				since = performance.now();
				socket.write(request());
			};
			const done = () => {
				latencies.push(performance.now() - since);
				if (isOver) {
					socket.end();
					resolve();
				} else {
					ask();
				}
			};
			socket.on('data', (chunk) => {
				if (left > 0) {
					left -= chunk.length;
				} else {
					head += chunk.toString('latin1');
					const end = head.indexOf('\r\n\r\n');
					if (end === -1) {
						return;
					}

					bad += head.startsWith('HTTP/1.1 200') ? 0 : 1;
					left = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (head.length - end - 4);
					head = '';
				}

				if (left === 0) {
					done();
				}
			});
			socket.on('error', reject);
			socket.on('connect', ask);
			socket.setNoDelay(true);
		});
	const began = performance.now();
	const all = Promise.all(Array.from({length: connections}, visitor));
	const over = setTimeout(() => {
		isOver = true;
	}, seconds * 1000);
	await all;
	clearTimeout(over);
	const took = (performance.now() - began) / 1000;
	return {answered: latencies.length, seconds: took, bad, latencies: Float64Array.from(latencies).sort()};
};
