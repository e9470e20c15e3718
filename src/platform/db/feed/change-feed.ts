import {randomUUID} from 'node:crypto';
import type {Logger} from 'pino';
import {Loop} from '../../loop.ts';
import {connectionsOf, type Db} from '../db.ts';
import {Barriers} from './change-barriers.ts';
import {Heartbeats} from './heartbeats.ts';
import {type Change, changeOf, NotificationChannel} from './notification-channel.ts';
import {inSharedTurns} from './shared-turns.ts';
import {type PeerLine, WritePromises} from './write-promises.ts';

const CHANNEL = 'oplink_changes';

/** The interval of heartbeats, and how long after one the caches are trusted. */
const BEAT_MS = 500;
const TRUST_MS = 2500;

/**
 * Cache invalidation between the processes of an installation, through PostgreSQL (docs/internals.md), on a connection of
 * its own. All messages use one channel, which PostgreSQL delivers to every process in commit order: a process that
 * receives a barrier has received every earlier change.
 *
 * Messages: `l:`, `o:`, `d`, `f` changes (by the triggers), `b:ID:N` a heartbeat, `q:ID:N` a barrier, `a:ID:N:FROM` an
 * acknowledgement, `x:ID` a goodbye.
 */
export class ChangeFeed {
	readonly #db: Db;
	readonly #log: Logger;
	readonly #self = randomUUID();
	readonly #listeners: Array<(change: Change) => void> = [];
	readonly #heartbeats = new Heartbeats({beatMs: BEAT_MS, trustMs: TRUST_MS});
	readonly #beats = new Loop(() => this.#beat());
	readonly #writePromises: WritePromises | null;
	readonly #barriers: Barriers;
	readonly #channel: NotificationChannel;
	/** When a write last committed although no heartbeat had arrived for long: then the database accepts writes. */
	#wroteUnheard = Number.NEGATIVE_INFINITY;
	#lastTrusted = Number.NEGATIVE_INFINITY;
	#isUp = false;

	/**
	 * Resolves when no process uses values from before the writes committed until now: each has acknowledged, or may not
	 * trust its caches any more. Concurrent callers share a barrier, which is sent after all of their writes.
	 */
	readonly settled = inSharedTurns(() => this.#ask());

	/**
	 * @param line a second channel to the other processes, which keeps caches valid while PostgreSQL is unavailable to all of
	 * them; null if there is none.
	 */
	constructor({db, log, line}: {db: Db; log: Logger; line: PeerLine | null}) {
		const heartbeats = this.#heartbeats;
		const writePromises =
			line === null
				? null
				: new WritePromises({
						self: this.#self,
						line,
						trustMs: TRUST_MS,
						silentFor: () => (this.#isUp ? heartbeats.silentFor() : Number.POSITIVE_INFINITY),
						others: () => heartbeats.known(),
						beats: heartbeats.own,
						isWritable: () => performance.now() - this.#wroteUnheard < TRUST_MS,
					});
		this.#db = db;
		this.#log = log;
		this.#writePromises = writePromises;
		this.#barriers = new Barriers({
			self: this.#self,
			listening: () => [...(heartbeats.isDeaf() ? [] : [this.#self]), ...this.#living()],
			trustMs: TRUST_MS,
			promisedTo: () => writePromises?.promisedTo() ?? [],
			onAnswer: (answeredBy) => writePromises?.answeredWithout(heartbeats.all().filter((id) => !answeredBy.has(id))),
		});
		this.#channel = new NotificationChannel({
			db,
			log,
			channel: CHANNEL,
			onMessage: (message) => this.#receive(message),
			onUp: (server) => this.#up(server),
			onDown: () => this.#down(),
		});
	}

	/** The listener is called for every change in commit order, before the write that made it is answered. */
	onChange(listener: (change: Change) => void): void {
		this.#listeners.push(listener);
	}

	/**
	 * Whether cached values are valid: this process received its own heartbeat recently, so it receives all messages; or all
	 * others have promised to answer no write, see `WritePromises`.
	 */
	isTrusted(): boolean {
		const isTrusted = this.#heartbeats.isTrusted() || (this.#writePromises?.areAllGiven() ?? false);
		if (isTrusted) {
			this.#lastTrusted = performance.now();
		}

		return isTrusted;
	}

	/** Whether caches were trusted within the last 2.5 s. Until then, reads that a failover interrupts are repeated. */
	wasTrusted(): boolean {
		return this.isTrusted() || performance.now() - this.#lastTrusted < TRUST_MS;
	}

	/** Whether this process received its own heartbeat recently. */
	isHearing(): boolean {
		return this.#heartbeats.isTrusted();
	}

	/** Whether this process received only its own heartbeats, for at least their interval. */
	isAlone(): boolean {
		return this.#heartbeats.isAlone();
	}

	async close(): Promise<void> {
		await this.#channel.say(`x:${this.#self}`).catch(() => {});
		await this.#channel.close();
		this.#writePromises?.close();
		this.#heartbeats.endTrust();
		await this.#beats.stop();
	}

	#publish(change: Change): void {
		for (const listener of this.#listeners) {
			listener(change);
		}
	}

	#forget(id: string): void {
		this.#heartbeats.forget(id);
		this.#writePromises?.forget(id);
		this.#barriers.forget(id);
	}

	/** Other processes that may still trust their caches. */
	#living(): string[] {
		for (const id of this.#heartbeats.gone()) {
			this.#forget(id);
		}

		return this.#heartbeats.living();
	}

	#receive(message: string): void {
		const change = changeOf(message);
		if (change !== null) {
			this.#publish(change);
			return;
		}

		const [kind, id = '', number, from = ''] = message.split(':');
		const isOwn = id === this.#self;
		if (kind === 'b' && isOwn) {
			this.#heartbeats.receiveOwn(Number(number));
		} else if (kind === 'b') {
			this.#heartbeats.receiveOther(id);
			this.#writePromises?.receiveBeat(id, Number(number));
		} else if (kind === 'q' && isOwn) {
			// Every change committed before the barrier has arrived here too.
			this.#barriers.acknowledge(Number(number), this.#self);
		} else if (kind === 'q') {
			this.#channel
				.say(`a:${id}:${number}:${this.#self}`)
				.catch((error: unknown) => this.#log.debug({err: error}, 'change feed'));
		} else if (kind === 'a' && isOwn) {
			this.#barriers.acknowledge(Number(number), from);
		} else if (kind === 'x') {
			this.#forget(id);
		}
	}

	async #ask(): Promise<void> {
		if (this.#heartbeats.silentFor() > TRUST_MS) {
			this.#wroteUnheard = performance.now();
		}

		const barrier = this.#barriers.open();
		const passed = barrier.passed();
		this.#channel.say(barrier.message).catch(() => {
			if (this.#living().length === 0) {
				this.#barriers.forget(this.#self);
			}
		});
		await passed;
	}

	/** Sends a heartbeat. @returns the pause until the next; null without a connection. */
	async #beat(): Promise<number | null> {
		if (!this.#isUp) {
			return null;
		}

		// A silently broken connection would never fail by itself.
		const late = setTimeout(() => this.#channel.reconnect(), TRUST_MS).unref();
		try {
			await this.#channel.say(`b:${this.#self}:${this.#heartbeats.next()}`);
			return BEAT_MS;
		} catch (error) {
			this.#log.debug({err: error}, 'change feed');
			this.#channel.reconnect();
			return null;
		} finally {
			clearTimeout(late);
		}
	}

	#up(server: string): void {
		// After a failover a server may be gone without a word, and statements would wait for it.
		const dropped = connectionsOf(this.#db).keepOnly(server);
		if (dropped > 0) {
			this.#log.warn(
				{connections: dropped},
				'another database server answers; dropped the connections to the one before',
			);
		}

		// Changes sent while disconnected are unknown.
		this.#publish({kind: 'everything'});
		this.#isUp = true;
		this.#heartbeats.startAgain();
		this.#writePromises?.end();
		this.#beats.wake();
	}

	/** Caches stay valid while the others wait for this process. */
	#down(): void {
		if (this.#isUp) {
			this.#isUp = false;
			this.#log.warn('lost the change feed; reading links from the database until it is back, unless nobody can write');
		}
	}
}
