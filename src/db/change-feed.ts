import {randomUUID} from 'node:crypto';
import type {Logger} from 'pino';
import {type Change, changeOf} from './change-message.ts';
import {createQuestions, type Question} from './change-questions.ts';
import type {Db} from './db.ts';
import {openNotificationChannel} from './notification-channel.ts';

/** The channel of the feed. */
export const CHANGES = 'oplink_changes';

/** How often a process shows that it listens, and for how long after that its caches are trusted. */
const BEAT_MS = 500;
const TRUST_MS = 2500;

/** What the processes of an installation tell each other through PostgreSQL (docs/link-cache.md). */
export type ChangeFeed = {
	/** Called for every change, in the order of the commits, before any write that made it is answered. */
	onChange(listener: (change: Change) => void): void;
	/** Whether what was cached may be answered with: this process has heard itself lately, so it hears everybody. */
	isTrusted(): boolean;
	/** Whether no other process was heard as long as this one heard itself, a beat's time at least. */
	isAlone(): boolean;
	/**
	 * Resolves when no process answers any more with what was so before the writes that were committed until now:
	 * each has said so, or may not trust its caches any more.
	 */
	settled(): Promise<void>;
	/** The same for a write that tells `message` on the channel CHANGES in its own transaction. */
	question(): Question;
	close(): Promise<void>;
};

/**
 * Listens on a connection of its own. Everything is a message of one channel, and PostgreSQL delivers them to all in
 * the order of the commits: whoever hears a process's question has heard every change that was committed before it.
 *
 * Messages: `l:`, `o:`, `d`, `f` changes (the triggers' own), `b:ID` a beat, `q:ID:N` a question, `a:ID:N:FROM` an answer,
 * `x:ID` a farewell.
 */
export const createChangeFeed = ({db, log}: {db: Db; log: Logger}): ChangeFeed => {
	const self = randomUUID();
	const listeners: Array<(change: Change) => void> = [];
	const others = new Map<string, number>();
	let trustedUntil = 0;
	let beatSentAt = 0;
	/** When the connection came up that this process has not heard itself on yet; null where it has. */
	let unheardSince: number | null = performance.now();
	/** When this process first and last heard itself on its latest connection. */
	let heard: {first: number; last: number} | null = null;
	let isUp = false;
	let timer: NodeJS.Timeout | null = null;

	const tell = (change: Change) => {
		for (const listener of listeners) {
			listener(change);
		}
	};

	const forget = (id: string) => {
		others.delete(id);
		questions.forget(id);
	};

	const hear = (payload: string) => {
		const change = changeOf(payload);
		if (change !== null) {
			tell(change);
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
					// What was committed before the question has been heard here too.
					questions.hear(Number(number), self);
				} else {
					channel.say(`a:${id}:${number}:${self}`).catch((error: unknown) => log.debug({err: error}, 'change feed'));
				}

				return;
			case 'a':
				if (id === self) {
					questions.hear(Number(number), from);
				}

				return;
			case 'x':
				forget(id);
		}
	};

	/** Others that may still trust their caches. */
	const living = (): string[] => {
		const now = performance.now();
		for (const [id, heardAt] of others) {
			if (heardAt + TRUST_MS < now && (heard === null || heardAt + TRUST_MS < heard.last)) {
				forget(id);
			}
		}

		return [...others].filter(([, heardAt]) => heardAt + TRUST_MS >= now).map(([id]) => id);
	};

	/** Everybody who has to have heard of a write. */
	const listening = (): string[] => {
		// A pooler in front of PostgreSQL may take every message and deliver none: such a process never trusts its memory.
		const isDeaf = unheardSince !== null && performance.now() - unheardSince > TRUST_MS;
		return [...(isDeaf ? [] : [self]), ...living()];
	};

	const questions = createQuestions({self, listening, trustMs: TRUST_MS});

	/** Who hears nothing cannot tell that nobody speaks: what counts is what was heard as long as it heard itself. */
	const isAlone = (): boolean => {
		if (heard === null || heard.last - heard.first < BEAT_MS) {
			return false;
		}

		const {last} = heard;
		return [...others.values()].every((heardAt) => heardAt + TRUST_MS < last);
	};

	const beat = async (): Promise<void> => {
		// A connection that is cut off without a word would never fail by itself.
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
		hear,
		onUp: () => {
			// What was told while nobody listened is not known.
			tell({kind: 'everything'});
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
		const question = questions.open();
		const answered = question.answered();
		channel.say(question.message).catch(() => {
			if (living().length === 0) {
				questions.forget(self);
			}
		});
		await answered;
	};

	let running: Promise<void> | null = null;
	let next: Promise<void> | null = null;
	/** Questions that come while one is under way share the next one, which is asked after all of their writes. */
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
		question: questions.open,
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
