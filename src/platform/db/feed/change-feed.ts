import {randomUUID} from 'node:crypto';
import type {Logger} from 'pino';
import {connectionsOf, type Db} from '../db.ts';
import {type Barrier, createBarriers} from './change-barriers.ts';
import {type Change, changeOf} from './change-message.ts';
import {createHeartbeats} from './heartbeats.ts';
import {openNotificationChannel} from './notification-channel.ts';
import type {PeerLine} from './peer-line.ts';
import {inSharedTurns} from './shared-turns.ts';
import {createWritePromises} from './write-promises.ts';

const CHANGES = 'oplink_changes';

/** The interval of heartbeats, and how long after one the caches are trusted. */
const BEAT_MS = 500;
const TRUST_MS = 2500;

/** Cache invalidation between the processes of an installation, through PostgreSQL (docs/internals.md). */
export type ChangeFeed = {
	/** Called for every change in commit order, before the write that made it is answered. */
	onChange(listener: (change: Change) => void): void;
	/**
	 * Whether cached values are valid: this process received its own heartbeat recently, so it receives all messages; or all
	 * others have promised to answer no write, see `createWritePromises`.
	 */
	isTrusted(): boolean;
	/** Whether caches were trusted within the last 2.5 s. Until then, reads that a failover interrupts are repeated. */
	wasTrusted(): boolean;
	/** Whether this process received its own heartbeat recently. */
	isHearing(): boolean;
	/** Whether this process heard only itself, for at least a heartbeat's interval. */
	isAlone(): boolean;
	/**
	 * Resolves when no process uses values from before the writes committed until now: each has acknowledged, or may not
	 * trust its caches any more.
	 */
	settled(): Promise<void>;
	close(): Promise<void>;
};

/**
 * Listens on a connection of its own. All messages use one channel, which PostgreSQL delivers to everyone in commit
 * order: a process that receives a barrier has received every earlier change.
 *
 * Messages: `l:`, `o:`, `d`, `f` changes (by the triggers), `b:ID:N` a heartbeat, `q:ID:N` a barrier, `a:ID:N:FROM` an
 * acknowledgement, `x:ID` a goodbye.
 * @param line a second channel to the other processes, which keeps caches valid while PostgreSQL is unavailable to all of
 * them; null if there is none.
 */
export const createChangeFeed = ({db, log, line}: {db: Db; log: Logger; line: PeerLine | null}): ChangeFeed => {
	const self = randomUUID();
	const listeners: Array<(change: Change) => void> = [];
	const heartbeats = createHeartbeats({beatMs: BEAT_MS, trustMs: TRUST_MS});
	/** When a write last committed although no heartbeat had arrived for long: then the database accepts writes. */
	let wroteUnheard = Number.NEGATIVE_INFINITY;
	let lastTrusted = Number.NEGATIVE_INFINITY;
	let isUp = false;
	let timer: NodeJS.Timeout | null = null;

	const publish = (change: Change) => {
		for (const listener of listeners) {
			listener(change);
		}
	};

	const forget = (id: string) => {
		heartbeats.forget(id);
		writePromises?.forget(id);
		barriers.forget(id);
	};

	const receive = (payload: string) => {
		const change = changeOf(payload);
		if (change !== null) {
			publish(change);
			return;
		}

		const [kind, id = '', number, from = ''] = payload.split(':');
		switch (kind) {
			case 'b':
				if (id === self) {
					heartbeats.heardOwn(Number(number));
				} else {
					heartbeats.heardOther(id);
					writePromises?.heardBeat(id, Number(number));
				}

				return;
			case 'q':
				if (id === self) {
					// Every change committed before the barrier has arrived here too.
					barriers.acknowledge(Number(number), self);
				} else {
					channel.say(`a:${id}:${number}:${self}`).catch((error: unknown) => log.debug({err: error}, 'change feed'));
				}

				return;
			case 'a':
				if (id === self) {
					barriers.acknowledge(Number(number), from);
				}

				return;
			case 'x':
				forget(id);
		}
	};

	/** Other processes that may still trust their caches. */
	const living = (): string[] => {
		for (const id of heartbeats.gone()) {
			forget(id);
		}

		return heartbeats.living();
	};

	const writePromises =
		line === null
			? null
			: createWritePromises({
					self,
					line,
					trustMs: TRUST_MS,
					silentFor: () => (isUp ? heartbeats.silentFor() : Number.POSITIVE_INFINITY),
					others: heartbeats.known,
					beats: heartbeats.own,
					isWritable: () => performance.now() - wroteUnheard < TRUST_MS,
				});

	const barriers = createBarriers({
		self,
		/** All processes that must acknowledge a write. */
		listening: () => [...(heartbeats.isDeaf() ? [] : [self]), ...living()],
		trustMs: TRUST_MS,
		promisedTo: () => writePromises?.promisedTo() ?? [],
		onAnswer: (answeredBy) => writePromises?.answeredWithout(heartbeats.all().filter((id) => !answeredBy.has(id))),
	});

	const openBarrier = (): Barrier => {
		if (heartbeats.silentFor() > TRUST_MS) {
			wroteUnheard = performance.now();
		}

		return barriers.open();
	};

	const beat = async (): Promise<void> => {
		// A silently broken connection would never fail by itself.
		const late = setTimeout(() => channel.reconnect(), TRUST_MS);
		late.unref();
		try {
			await channel.say(`b:${self}:${heartbeats.next()}`);
		} catch (error) {
			log.debug({err: error}, 'change feed');
			channel.reconnect();
			return;
		} finally {
			clearTimeout(late);
		}

		timer = setTimeout(() => void beat(), BEAT_MS);
		timer.unref();
	};

	const channel = openNotificationChannel({
		db,
		log,
		channel: CHANGES,
		onMessage: receive,
		onUp: (server) => {
			// After a failover a server may be gone without a word, and statements would wait for it.
			const dropped = connectionsOf(db).keepOnly(server);
			if (dropped > 0) {
				log.warn({connections: dropped}, 'another database server answers; dropped the connections to the one before');
			}

			// Changes sent while disconnected are unknown.
			publish({kind: 'everything'});
			isUp = true;
			heartbeats.startAgain();
			writePromises?.hearsAgain();
			void beat();
		},
		onDown: () => {
			// Caches stay valid as long as the others wait for this process.
			if (timer !== null) {
				clearTimeout(timer);
			}

			if (isUp) {
				isUp = false;
				log.warn('lost the change feed; reading links from the database until it is back, unless nobody can write');
			}
		},
	});

	const ask = async (): Promise<void> => {
		const barrier = openBarrier();
		const passed = barrier.passed();
		channel.say(barrier.message).catch(() => {
			if (living().length === 0) {
				barriers.forget(self);
			}
		});
		await passed;
	};

	const isTrusted = (): boolean => {
		const isIt = heartbeats.isTrusted() || (writePromises?.areAllGiven() ?? false);
		if (isIt) {
			lastTrusted = performance.now();
		}

		return isIt;
	};

	return {
		onChange: (listener) => {
			listeners.push(listener);
		},
		isTrusted,
		wasTrusted: () => isTrusted() || performance.now() - lastTrusted < TRUST_MS,
		isHearing: heartbeats.isTrusted,
		isAlone: heartbeats.isAlone,
		// Group commit for barriers: the shared one is sent after all of their writes.
		settled: inSharedTurns(ask),
		close: async () => {
			await channel.say(`x:${self}`).catch(() => {});
			await channel.close();
			writePromises?.close();
			heartbeats.endTrust();
			if (timer !== null) {
				clearTimeout(timer);
			}
		},
	};
};
