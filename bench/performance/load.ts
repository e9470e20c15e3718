import {connect, type Socket} from 'node:net';

/** What a load came to. Latencies in ms, sorted. */
export type Measured = {
	sent: number;
	answered: number;
	/** Answers with another status than was expected. */
	bad: number;
	seconds: number;
	latencies: Float64Array;
};

export type Load = {
	connections: number;
	/** The whole request, as it goes over the wire, of the n-th from 0. */
	request: (n: number) => string;
	seconds: number;
	/** Requests a second, whether answers come or not; without it each connection asks as soon as it has its answer. */
	rate?: number;
	/** No more requests than so many. */
	most?: number;
	/** Whether the n-th answer is as expected; by default with a status of 2xx. */
	isGood?: (n: number, status: number) => boolean;
	onAnswer?: (n: number, status: number, body: string) => void;
};

const isSuccess = (_: number, status: number): boolean => status >= 200 && status < 300;

const TICK_MS = 1;

/**
 * Asks a server over `connections` for `seconds`. A client of its own on bare sockets, because that of node:http costs
 * more than what is measured. With a rate the latency counts from when a request was due, also where it waits for a
 * connection. A connection that breaks is not opened again.
 */
export const load = async (target: URL, given: Load): Promise<Measured> => {
	const {connections, request, seconds, rate, most = Number.POSITIVE_INFINITY, isGood = isSuccess, onAnswer} = given;
	const latencies: number[] = [];
	const idle: Array<(since: number) => void> = [];
	const due: number[] = [];
	let [sent, bad, isOver] = [0, 0, false];

	const visitor = (): Promise<void> =>
		new Promise((resolve) => {
			const socket: Socket = connect(Number(target.port), target.hostname);
			let [since, left, number, status, isLast, isHead] = [0, -1, 0, 0, false, false];
			let [head, body] = ['', ''];
			const ask = (from: number) => {
				number = sent;
				sent += 1;
				since = from;
				const text = request(number);
				isHead = text.startsWith('HEAD ');
				socket.write(text);
			};
			const next = () => {
				const waiting = isLast ? undefined : due.shift();
				if (isOver || isLast || sent >= most) {
					socket.end();
				} else if (rate === undefined) {
					ask(performance.now());
				} else if (waiting === undefined) {
					idle.push(ask);
				} else {
					ask(waiting);
				}
			};
			const done = () => {
				latencies.push(performance.now() - since);
				bad += isGood(number, status) ? 0 : 1;
				onAnswer?.(number, status, body);
				[left, head, body] = [-1, '', ''];
				next();
			};
			socket.on('data', (chunk) => {
				if (left === -1) {
					head += chunk.toString('latin1');
					const end = head.indexOf('\r\n\r\n');
					if (end === -1) {
						return;
					}

					status = Number(head.slice(9, 12));
					isLast = /\r\nconnection: close/i.test(head.slice(0, end));
					const length = isHead ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
					left = length - (head.length - end - 4);
					body = head.slice(end + 4);
				} else {
					left -= chunk.length;
					body = onAnswer === undefined ? '' : body + chunk.toString('latin1');
				}

				if (left === 0) {
					done();
				}
			});
			socket.on('error', () => {});
			socket.on('close', () => resolve());
			socket.on('connect', next);
			socket.setNoDelay(true);
			closers.push(() => idle.includes(ask) && socket.end());
		});

	const closers: Array<() => unknown> = [];
	const began = performance.now();
	const all = Promise.all(Array.from({length: connections}, visitor));
	let dispatched = 0;
	const ticks = setInterval(() => {
		const now = performance.now();
		isOver ||= now - began > seconds * 1000;
		for (; rate !== undefined && !isOver && dispatched < ((now - began) * rate) / 1000; dispatched += 1) {
			const ask = idle.pop();
			ask === undefined ? due.push(now) : ask(now);
		}

		if (isOver) {
			for (const close of closers) {
				close();
			}
		}
	}, TICK_MS);
	await all;
	clearInterval(ticks);
	const took = (performance.now() - began) / 1000;
	return {sent, answered: latencies.length, bad, seconds: took, latencies: Float64Array.from(latencies).sort()};
};
