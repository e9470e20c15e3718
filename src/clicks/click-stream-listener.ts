import {Readable} from 'node:stream';
import type {Snapshot, StreamEvent} from './click-stream-store.ts';

/** Events that wait for a slow reader; then the oldest are given up. */
const MOST_WAITING = 4000;

/** One event as server-sent events write it. */
export const eventFrame = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

/** An event of the stream as all its listeners get it, written once. */
export const frameOf = ({type, data}: StreamEvent): string => eventFrame(type, data);

/** What a reader that lost the connection goes on from. Without data it is no event, but it is remembered as the last id. */
const cursorFrame = (cursor: Snapshot): string => `id: ${cursor}\n\n`;

/** One reader of the stream. */
export type Listener = {
	/** What is sent to it; destroyed when it has gone. */
	stream: Readable;
	/** The only organization whose events it gets, or null. */
	organizationId: string | null;
	/** Everything up to here has been handed to it. */
	upTo: Snapshot;
	send: (frame: string) => void;
	/** All up to there has been sent. */
	advance: (upTo: Snapshot) => void;
	/** A sign of life, unless there is more to say. */
	beat: () => void;
	/** Ends the answer; a reader that does not take it in is hung up on. */
	end: () => void;
};

/**
 * @param connection is what the answer goes out on.
 * @param first is sent before everything else.
 */
export const createListener = ({
	organizationId,
	from,
	first,
	connection,
	mostWaiting = MOST_WAITING,
}: {
	organizationId: string | null;
	from: Snapshot;
	first: string;
	connection: {writableLength: number; destroy: () => void};
	mostWaiting?: number;
}): Listener => {
	const waiting: string[] = [];
	let lost = 0;
	let cursor: Snapshot | null = null;
	let isWanted = false;

	const next = (): string | undefined => {
		if (lost > 0) {
			const count = lost;
			lost = 0;
			return eventFrame('lost', {count});
		}

		const frame = waiting.shift();
		if (frame !== undefined || cursor === null) {
			return frame;
		}

		const reached = cursor;
		cursor = null;
		return cursorFrame(reached);
	};
	const flush = () => {
		while (isWanted) {
			const frame = next();
			if (frame === undefined) {
				return;
			}

			isWanted = stream.push(frame);
		}
	};
	const stream = new Readable({
		read: () => {
			isWanted = true;
			flush();
		},
	});
	stream.push(`retry: 1000\n${first}${cursorFrame(from)}`);

	const listener: Listener = {
		stream,
		organizationId,
		upTo: from,
		send: (frame) => {
			waiting.push(frame);
			flush();
			if (waiting.length > mostWaiting) {
				waiting.shift();
				lost += 1;
			}
		},
		advance: (upTo) => {
			if (upTo !== listener.upTo) {
				listener.upTo = upTo;
				cursor = upTo;
				flush();
			}
		},
		beat: () => {
			if (isWanted && waiting.length === 0) {
				isWanted = stream.push(':\n\n');
			}
		},
		end: () => {
			const isTaken = isWanted && connection.writableLength === 0;
			stream.push(null);
			if (!isTaken) {
				connection.destroy();
			}
		},
	};
	return listener;
};
