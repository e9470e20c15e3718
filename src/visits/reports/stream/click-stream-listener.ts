import {Readable} from 'node:stream';
import type {Snapshot} from '../../../platform/db/new-rows.ts';

/** Maximum events queued for a slow reader. Beyond that the oldest are dropped. */
const MAX_WAITING = 4000;

/** One event in the format of server-sent events. */
export const eventFrame = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * The position to resume from after a lost connection. Without data it isn't an event, but the client stores it as the
 * last id.
 */
const cursorFrame = (cursor: Snapshot): string => `id: ${cursor}\n\n`;

/**
 * One reader of the stream.
 * @param organizationId the only one whose events it receives; null for all. @param isOfApps it receives requests of
 * apps instead of clicks, matches and events. @param connection the connection of the
 * response. @param first is sent before everything else.
 */
export const createListener = ({
	organizationId,
	isOfApps = false,
	from,
	first,
	connection,
	mostWaiting = MAX_WAITING,
}: {
	organizationId: string | null;
	isOfApps?: boolean;
	from: Snapshot;
	first: string;
	connection: {writableLength: number; destroy: () => void};
	mostWaiting?: number;
}) => {
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

	const listener = {
		/** The response body; destroyed when the reader disconnects. */
		stream,
		organizationId,
		isOfApps,
		/** Events up to here have been queued. */
		upTo: from,
		send: (frame: string): void => {
			waiting.push(frame);
			flush();
			if (waiting.length > mostWaiting) {
				waiting.shift();
				lost += 1;
			}
		},
		/** Marks all events up to `upTo` as sent. */
		advance: (upTo: Snapshot): void => {
			if (upTo !== listener.upTo) {
				listener.upTo = upTo;
				cursor = upTo;
				flush();
			}
		},
		/** Sends a heartbeat, unless events are waiting. */
		beat: (): void => {
			if (isWanted && waiting.length === 0) {
				isWanted = stream.push(':\n\n');
			}
		},
		/** Ends the response. A reader that does not keep up is disconnected. */
		end: (): void => {
			const isTaken = isWanted && connection.writableLength === 0;
			stream.push(null);
			if (!isTaken) {
				connection.destroy();
			}
		},
	};
	return listener;
};

export type Listener = ReturnType<typeof createListener>;
