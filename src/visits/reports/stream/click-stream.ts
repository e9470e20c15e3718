import type {Readable} from 'node:stream';
import type {Logger} from 'pino';
import type {Background} from '../../../platform/background.ts';
import type {Clock} from '../../../platform/clock.ts';
import type {Db} from '../../../platform/db/db.ts';
import {stopping} from '../../../platform/errors.ts';
import type {ClickStore} from '../../clicks/click-store.ts';
import {createListener, eventFrame, type Listener} from './click-stream-listener.ts';
import {parseSnapshot, readSnapshot, type Snapshot} from './click-stream-store.ts';

const TURN_MS = 250;
const BEAT_MS = 15_000;

/** A request to listen: the organization, the position and the connection. */
type Subscription = {
	organizationId: string | null;
	/** The last id that the client received; null for a new client. */
	cursor: string | null;
	connection: {writableLength: number; destroy: () => void};
};

/** The longest gap in transactions that a reconnecting listener is replayed; a click is one. */
const MAX_TRANSACTIONS = 100_000n;

/**
 * The cursor that a listener may resume from. Null if it belongs to another database, or is so old that starting afresh
 * shows more.
 */
const resumableFrom = (cursor: string, now: Snapshot): Snapshot | null => {
	const [then, present] = [parseSnapshot(cursor), parseSnapshot(now)];
	if (then === null || present === null) {
		return null;
	}

	return then.xmax <= present.xmax && present.xmax - then.xmin <= MAX_TRANSACTIONS ? cursor : null;
};

/**
 * Clicks, matches and events as they are stored, by any process. Polls new rows for all listeners together, four times a
 * second, and never without listeners. Writing a click costs nothing extra.
 */
export const createClickStream = (services: {
	db: Db;
	clock: Clock;
	log: Logger;
	background: Background;
	clicks: Pick<ClickStore, 'stream'>;
}) => {
	const {db, clock, log, background, clicks} = services;
	const listeners = new Set<Listener>();
	let isClosed = false;
	let isAway = false;
	let isTurning = false;
	let timers: {turn: NodeJS.Timeout; beat: NodeJS.Timeout} | null = null;

	const deliver = async (from: Snapshot, upTo: Snapshot, members: Listener[]): Promise<void> => {
		if (from !== upTo) {
			for await (const events of clicks.stream.between(db, from, upTo)) {
				for (const event of events) {
					const frame = eventFrame(event.type, event.data);
					const owner = event.data.organization?.id ?? null;
					for (const member of members) {
						if (member.organizationId === null || member.organizationId === owner) {
							member.send(frame);
						}
					}
				}
			}
		}

		for (const member of members) {
			member.advance(upTo);
		}
	};

	const turn = async (): Promise<void> => {
		isTurning = true;
		try {
			const upTo = await readSnapshot(db);
			// Those at the same position share one query.
			for (const from of new Set([...listeners].map((listener) => listener.upTo))) {
				await deliver(
					from,
					upTo,
					[...listeners].filter((listener) => listener.upTo === from),
				);
			}

			isAway = false;
		} catch (error) {
			if (!isAway && !isClosed) {
				log.warn({err: error}, 'the click stream waits for the database');
			}

			isAway = true;
		}

		isTurning = false;
		timers?.turn.refresh();
	};

	const stop = () => {
		clearTimeout(timers?.turn);
		clearInterval(timers?.beat);
		timers = null;
	};
	const start = () => {
		timers ??= {
			turn: setTimeout(() => {
				// A poll that began for earlier listeners also serves these.
				if (!isTurning) {
					background.run('read the click stream', turn());
				}
			}, TURN_MS).unref(),
			beat: setInterval(() => {
				for (const listener of listeners) {
					listener.beat();
				}
			}, BEAT_MS).unref(),
		};
	};

	return {
		/** The endless body of a listener's response. @throws 503 while the service stops. */
		listen: async ({organizationId, cursor, connection}: Subscription): Promise<Readable> => {
			const from = cursor === null ? null : resumableFrom(cursor, await readSnapshot(db));
			const begin = async () => {
				const {recent, snapshot} = await clicks.stream.recent(db, organizationId, clock.now());
				return {from: snapshot, first: eventFrame('recent', recent)};
			};
			const position = from === null ? await begin() : {from, first: ''};
			if (isClosed) {
				throw stopping();
			}

			const listener = createListener({organizationId, connection, ...position});
			listeners.add(listener);
			start();
			listener.stream.once('close', () => {
				listeners.delete(listener);
				if (listeners.size === 0) {
					stop();
				}
			});
			return listener.stream;
		},
		/** Ends all listeners and stops polling. */
		close: (): void => {
			isClosed = true;
			stop();
			for (const listener of listeners) {
				listener.end();
			}
		},
	};
};
