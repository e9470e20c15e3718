import type {Readable} from 'node:stream';
import type {Logger} from 'pino';
import {watchRequests} from '../../../platform/app-requests/app-request-store.ts';
import type {Background} from '../../../platform/background.ts';
import type {Clock} from '../../../platform/clock.ts';
import type {Db} from '../../../platform/db/db.ts';
import {parseSnapshot, readSnapshot, type Snapshot, type SnapshotRange} from '../../../platform/db/new-rows.ts';
import {stopping} from '../../../platform/errors.ts';
import {Loop} from '../../../platform/loop.ts';
import {Outage} from '../../../platform/outage.ts';
import type {ClickStore} from '../click-store.ts';
import {readAppRequests} from './app-stream-store.ts';
import {createListener, eventFrame, type Listener} from './click-stream-listener.ts';

const POLL_MS = 250;
const BEAT_MS = 15_000;

/** A request to listen: the organization, the position and the connection. */
type Subscription = {
	organizationId: string | null;
	/** Requests of the organization's apps instead of clicks, matches and events. */
	isOfApps?: boolean;
	/** The last id that the client received; null for a new client. */
	cursor: string | null;
	connection: {writableLength: number; destroy: () => void};
};

const idsOf = (listeners: readonly Listener[]): string[] => [
	...new Set(listeners.flatMap(({organizationId}) => organizationId ?? [])),
];

/** The longest gap in transactions that is replayed to a reconnecting listener; a click is one. */
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

type Services = {db: Db; clock: Clock; log: Logger; background: Background; clicks: Pick<ClickStore, 'stream'>};

/**
 * Clicks, matches and events as they are stored, by any process. Polls new rows for all listeners together, four times a
 * second, and never without listeners. Writing a click costs nothing extra.
 */
export class ClickStream {
	readonly #services: Services;
	readonly #listeners = new Set<Listener>();
	readonly #outage: Outage;
	readonly #polls = new Loop(() => this.#poll());
	readonly #beats = new Loop(async () => this.#beat());
	#isClosed = false;

	constructor(services: Services) {
		this.#services = services;
		this.#outage = new Outage(services.log, {began: 'the click stream waits for the database', ended: null});
	}

	/** The endless body of a listener's response. @throws 503 while the service stops. */
	async listen({organizationId, isOfApps = false, cursor, connection}: Subscription): Promise<Readable> {
		const {db, clock, clicks} = this.#services;
		if (isOfApps && organizationId !== null) {
			await watchRequests(db, [organizationId], clock.now());
		}

		const from = cursor === null ? null : resumableFrom(cursor, await readSnapshot(db));
		const begin = async () => {
			if (isOfApps) {
				return {from: await readSnapshot(db), first: ''};
			}

			const {recent, snapshot} = await clicks.stream.recent(db, organizationId, clock.now());
			return {from: snapshot, first: eventFrame('recent', recent)};
		};
		const position = from === null ? await begin() : {from, first: ''};
		if (this.#isClosed) {
			throw stopping();
		}

		const listener = createListener({organizationId, isOfApps, connection, ...position});
		this.#listeners.add(listener);
		this.#polls.wake(POLL_MS);
		this.#beats.wake(BEAT_MS);
		listener.stream.once('close', () => this.#listeners.delete(listener));
		return listener.stream;
	}

	/** Ends all listeners and stops polling. */
	close(): void {
		this.#isClosed = true;
		this.#outage.close();
		void this.#polls.stop();
		void this.#beats.stop();
		for (const listener of this.#listeners) {
			listener.end();
		}
	}

	async #poll(): Promise<number | null> {
		if (this.#listeners.size > 0) {
			const reading = this.#read();
			this.#services.background.run('read the click stream', reading);
			await reading;
		}

		return this.#listeners.size === 0 ? null : POLL_MS;
	}

	#beat(): number | null {
		const {background, clock, db} = this.#services;
		const watched = idsOf([...this.#listeners].filter(({isOfApps}) => isOfApps));
		if (watched.length > 0) {
			background.run('watch requests of apps', watchRequests(db, watched, clock.now()));
		}

		for (const listener of this.#listeners) {
			listener.beat();
		}

		return this.#listeners.size === 0 ? null : BEAT_MS;
	}

	async #read(): Promise<void> {
		try {
			const upTo = await readSnapshot(this.#services.db);
			// Listeners at the same position share one query.
			const listeners = [...this.#listeners];
			for (const from of new Set(listeners.map((listener) => listener.upTo))) {
				await this.#deliver(
					{from, upTo},
					listeners.filter((listener) => listener.upTo === from),
				);
			}

			this.#outage.end();
		} catch (error) {
			this.#outage.begin(error);
		}
	}

	async #deliverRequests(range: SnapshotRange, members: Listener[]): Promise<void> {
		for (const {organizationId, frame} of await readAppRequests(this.#services.db, idsOf(members), range)) {
			for (const member of members.filter((one) => one.organizationId === organizationId)) {
				member.send(frame);
			}
		}
	}

	async #deliverEvents(range: SnapshotRange, members: Listener[]): Promise<void> {
		const {db, clicks} = this.#services;
		for await (const events of clicks.stream.between(db, range)) {
			for (const {type, data} of events) {
				const frame = eventFrame(type, data);
				const owner = data.organization?.id ?? null;
				for (const member of members.filter((one) => one.organizationId === null || one.organizationId === owner)) {
					member.send(frame);
				}
			}
		}
	}

	async #deliver(range: SnapshotRange, all: Listener[]): Promise<void> {
		const [ofApps, others] = [all.filter(({isOfApps}) => isOfApps), all.filter(({isOfApps}) => !isOfApps)];
		if (range.from !== range.upTo && ofApps.length > 0) {
			await this.#deliverRequests(range, ofApps);
		}

		if (range.from !== range.upTo && others.length > 0) {
			await this.#deliverEvents(range, others);
		}

		for (const listener of all) {
			listener.advance(range.upTo);
		}
	}
}
