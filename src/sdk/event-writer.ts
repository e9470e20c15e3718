import {type Db, isConnectionFault} from '../db/db.ts';
import {type AppEvent, storeEvent, storeEvents} from './sdk-store.ts';

/** Stores what apps tell. */
export type EventWriter = {
	/**
	 * Resolves when the event is on the disk. @throws 404 for an unknown device, or a link that is not the organization's.
	 */
	store(event: AppEvent): Promise<void>;
};

type Waiting = {event: AppEvent; done: () => void; fail: (error: unknown) => void};

/** Most events of one statement, of up to 10 KiB each. */
const MAX_BATCH = 200;

/**
 * Events that arrive together share a statement and its commit: what comes while one is under way goes with the next.
 * Nobody waits for a timer, and an event by itself is stored at once.
 */
export const createEventWriter = (db: Db): EventWriter => {
	let waiting: Waiting[] = [];
	let isWriting = false;

	const storeAlone = ({event, done, fail}: Waiting): Promise<void> => storeEvent(db, event).then(done, fail);

	const write = async (batch: Waiting[]): Promise<void> => {
		let stored: Set<string>;
		try {
			stored = await storeEvents(
				db,
				batch.map(({event}) => event),
			);
		} catch (error) {
			if (isConnectionFault(error)) {
				for (const {fail} of batch) {
					fail(error);
				}
			} else {
				// What one event is refused for is no concern of the others.
				await Promise.all(batch.map(storeAlone));
			}

			return;
		}

		const left = batch.filter(({event}) => !stored.has(event.id));
		for (const {event, done} of batch) {
			if (stored.has(event.id)) {
				done();
			}
		}

		await Promise.all(left.map(storeAlone));
	};

	const writeAll = async (): Promise<void> => {
		while (waiting.length > 0) {
			const batch = waiting.slice(0, MAX_BATCH);
			waiting = waiting.slice(MAX_BATCH);
			await write(batch);
		}

		isWriting = false;
	};

	return {
		store: (event) =>
			new Promise((resolve, reject) => {
				waiting.push({event, done: resolve, fail: reject});
				if (!isWriting) {
					isWriting = true;
					// After the requests that have arrived at this moment.
					setImmediate(() => void writeAll());
				}
			}),
	};
};
