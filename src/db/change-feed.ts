import {randomUUID} from 'node:crypto';
import type {Logger} from 'pino';
import {type Barrier, createBarriers} from './change-barriers.ts';
import {type Change, changeOf} from './change-message.ts';
import type {Db} from './db.ts';
import {openNotificationChannel} from './notification-channel.ts';

export const CHANGES = 'oplink_changes';

/** The interval of heartbeats, and how long after one the caches are trusted. */
const BEAT_MS = 500;
const TRUST_MS = 2500;

/** Cache invalidation between the processes of an installation, through PostgreSQL (docs/link-cache.md). */
export type ChangeFeed = {
	/** Called for every change in commit order, before the write that made it is answered. */
	onChange(listener: (change: Change) => void): void;
	/** Whether cached values are valid: this process received its own heartbeat recently, so it receives all messages. */
	isTrusted(): boolean;
	/** Whether this process heard only itself, for at least a heartbeat's interval. */
	isAlone(): boolean;
	/**
	 * Resolves when no process uses values from before the writes committed until now: each has acknowledged, or may not
	 * trust its caches any more.
	 */
	settled(): Promise<void>;
	/** The same for a write that sends `message` on the channel CHANGES in its own transaction. */
	barrier(): Barrier;
	close(): Promise<void>;
};

/**
 * Listens on a connection of its own. All messages use one channel, which PostgreSQL delivers to everyone in commit
 * order: a process that receives a barrier has received every earlier change.
 *
 * Messages: `l:`, `o:`, `d`, `f` changes (by the triggers), `b:ID` a heartbeat, `q:ID:N` a barrier, `a:ID:N:FROM` an
 * acknowledgement, `x:ID` a goodbye.
 */
export const createChangeFeed = ({db, log}: {db: Db; log: Logger}): ChangeFeed => {
	const self = randomUUID();
	const listeners: Array<(change: Change) => void> = [];
	const others = new Map<string, number>();
	let trustedUntil = 0;
	let beatSentAt = 0;
	/** When a connection came up that has not delivered a heartbeat of ours; null if it has. */
	let unheardSince: number | null = performance.now();
	/** Our first and last heartbeat on the latest connection. */
	let heard: {first: number; last: number} | null = null;
	let isUp = false;
	let timer: NodeJS.Timeout | null = null;

	const publish = (change: Change) => {
		for (const listener of listeners) {
			listener(change);
		}
	};

	const forget = (id: string) => {
		others.delete(id);
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
					trustedUntil = beatSentAt + TRUST_MS;
					unheardSince = null;
					heard = {first: heard?.first ?? performance.now(), last: performance.now()};
				} else {
					others.set(id, performance.now());
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
		const now = performance.now();
		for (const [id, heardAt] of others) {
			if (heardAt + TRUST_MS < now && (heard === null || heardAt + TRUST_MS < heard.last)) {
				forget(id);
			}
		}

		return [...others].filter(([, heardAt]) => heardAt + TRUST_MS >= now).map(([id]) => id);
	};

	/** All processes that must acknowledge a write. */
	const listening = (): string[] => {
		// A pooler in front of PostgreSQL may accept all messages and deliver none: such a process never trusts its cache.
		const isDeaf = unheardSince !== null && performance.now() - unheardSince > TRUST_MS;
		return [...(isDeaf ? [] : [self]), ...living()];
	};

	const barriers = createBarriers({self, listening, trustMs: TRUST_MS});

	/**
	 * A process that receives nothing does not know whether others are silent. So only the time in which it heard itself
	 * counts.
	 */
	const isAlone = (): boolean => {
		if (heard === null || heard.last - heard.first < BEAT_MS) {
			return false;
		}

		const {last} = heard;
		return [...others.values()].every((heardAt) => heardAt + TRUST_MS < last);
	};

	const beat = async (): Promise<void> => {
		// A silently broken connection would never fail by itself.
		const late = setTimeout(() => channel.reconnect(), TRUST_MS);
		late.unref();
		try {
			beatSentAt = performance.now();
			await channel.say(`b:${self}`);
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
		onUp: () => {
			// Changes sent while disconnected are unknown.
			publish({kind: 'everything'});
			isUp = true;
			unheardSince = performance.now();
			heard = null;
			void beat();
		},
		onDown: () => {
			trustedUntil = 0;
			if (timer !== null) {
				clearTimeout(timer);
			}

			if (isUp) {
				isUp = false;
				log.warn('lost the change feed; reading links from the database until it is back');
			}
		},
	});

	const ask = async (): Promise<void> => {
		const barrier = barriers.open();
		const passed = barrier.passed();
		channel.say(barrier.message).catch(() => {
			if (living().length === 0) {
				barriers.forget(self);
			}
		});
		await passed;
	};

	let running: Promise<void> | null = null;
	let next: Promise<void> | null = null;
	/**
	 * Group commit for barriers: those requested while one is pending share the next one, which is sent after all of
	 * their writes.
	 */
	const settled = (): Promise<void> => {
		if (running === null) {
			running = ask().finally(() => {
				running = null;
			});
			return running;
		}

		next ??= running.then(() => {
			next = null;
			return settled();
		});
		return next;
	};

	return {
		onChange: (listener) => {
			listeners.push(listener);
		},
		isTrusted: () => performance.now() < trustedUntil,
		isAlone,
		settled,
		barrier: barriers.open,
		close: async () => {
			await channel.say(`x:${self}`).catch(() => {});
			await channel.close();
			trustedUntil = 0;
			if (timer !== null) {
				clearTimeout(timer);
			}
		},
	};
};
