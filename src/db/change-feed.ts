import {randomUUID} from 'node:crypto';
import type {Logger} from 'pino';
import type {Db} from './db.ts';
import {openNotificationChannel} from './notification-channel.ts';

/** How often a process shows that it listens, and for how long after that its caches are trusted. */
const BEAT_MS = 500;
const TRUST_MS = 2500;

/** What a cache may no longer say: of one link, of an organization, of domains and all that stands on them, or all. */
export type Change =
	| {kind: 'link'; orgKey: string; shortCode: string}
	| {kind: 'organization'; orgKey: string}
	| {kind: 'domains'}
	| {kind: 'everything'};

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
	close(): Promise<void>;
};

const changeOf = (payload: string): Change | null => {
	const text = payload.slice(2);
	switch (payload.slice(0, 2)) {
		case 'l:': {
			const slash = text.indexOf('/');
			return {kind: 'link', orgKey: text.slice(0, slash), shortCode: text.slice(slash + 1)};
		}

		case 'o:':
			return {kind: 'organization', orgKey: text};
		default:
			return payload === 'd' ? {kind: 'domains'} : null;
	}
};

type Waiting = {left: Set<string>; done: () => void};

/**
 * Listens on a connection of its own. Everything is a message of one channel, and PostgreSQL delivers them to all in
 * the order of the commits: whoever hears a process's question has heard every change that was committed before it.
 *
 * Messages: `l:`, `o:`, `d` changes (the triggers' own), `b:ID` a beat, `q:ID:N` a question, `a:ID:N:FROM` an answer,
 * `x:ID` a farewell.
 */
export const createChangeFeed = ({db, log}: {db: Db; log: Logger}): ChangeFeed => {
	const self = randomUUID();
	const listeners: Array<(change: Change) => void> = [];
	const others = new Map<string, number>();
	const waiting = new Map<number, Waiting>();
	let trustedUntil = 0;
	let beatSentAt = 0;
	/** When the connection came up that this process has not heard itself on yet; null where it has. */
	let unheardSince: number | null = performance.now();
	/** When this process first and last heard itself on its latest connection. */
	let heard: {first: number; last: number} | null = null;
	let isUp = false;
	let questions = 0;
	let timer: NodeJS.Timeout | null = null;

	const tell = (change: Change) => {
		for (const listener of listeners) {
			listener(change);
		}
	};

	const forget = (id: string) => {
		others.delete(id);
		for (const [, question] of waiting) {
			question.left.delete(id);
			if (question.left.size === 0) {
				question.done();
			}
		}
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
					const question = waiting.get(Number(number));
					question?.left.delete(self);
					if (question?.left.size === 0) {
						question.done();
					}
				} else {
					channel.say(`a:${id}:${number}:${self}`).catch((error: unknown) => log.debug({err: error}, 'change feed'));
				}

				return;
			case 'a': {
				const question = id === self ? waiting.get(Number(number)) : undefined;
				question?.left.delete(from);
				if (question?.left.size === 0) {
					question.done();
				}

				return;
			}

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
		channel: 'oplink_changes',
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
				log.warn('the change feed is lost; links are read from the database until it is back');
			}
		},
	});

	const ask = async (): Promise<void> => {
		// A pooler in front of PostgreSQL may take every message and deliver none: such a process never trusts its memory.
		const isDeaf = unheardSince !== null && performance.now() - unheardSince > TRUST_MS;
		const left = new Set([...(isDeaf ? [] : [self]), ...living()]);
		if (left.size === 0) {
			return;
		}

		questions += 1;
		const number = questions;
		await new Promise<void>((resolve) => {
			const bound = setTimeout(resolve, TRUST_MS);
			const done = () => {
				clearTimeout(bound);
				resolve();
			};
			waiting.set(number, {left, done});
			// Unheard, the question is answered by time: without this feed nobody is trusted longer than the bound.
			channel.say(`q:${self}:${number}`).catch(() => {
				if (living().length === 0) {
					done();
				}
			});
		});
		waiting.delete(number);
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
