import type {PeerLine} from './peer-line.ts';

/** A process that has not heard itself for this long asks the others, this often. */
const SUSPECT_MS = 1250;
const ASK_MS = 250;

type Options = {
	self: string;
	line: PeerLine;
	/** How long a promise holds. */
	trustMs: number;
	/** Milliseconds since this process last heard itself. */
	silentFor: () => number;
	/** The other processes; null if it has not listened for long enough to know them. */
	others: () => string[] | null;
	/** The numbers of its latest heartbeats: sent, and heard. */
	beats: {readonly sent: number; readonly heard: number};
	/** Whether a write committed while this process heard nothing, so that the database takes writes. */
	isWritable: () => boolean;
};

/**
 * Keeps memory valid while PostgreSQL is away from every process: a process that hears nothing asks the others, and each
 * that hears nothing either promises to answer no write for a while. With the promises of all, nobody can have written.
 *
 * Messages on the line between processes: `w:ID:N:HEARD` a question with the last own heartbeat heard, `y:ID:N:FROM` a promise,
 * `n:ID:N:FROM` a refusal, `u:ID` a process that hears again.
 */
export const createWritePromises = ({self, line, trustMs, silentFor, others, beats, isWritable}: Options) => {
	let question = {number: 0, askedAt: 0, promisedBy: new Set<string>()};
	let givenUntil = 0;
	/** Until when this process answers no write, unless the other process has seen it. */
	const promises = new Map<string, number>();
	/**
	 * Processes that may not have seen a write answered here, and what shows that they have: a heartbeat of theirs that they
	 * heard, sent after this process heard a heartbeat of its own sent after the write.
	 */
	const unseen = new Map<string, {after: number} | {min: number}>();

	const isSilent = () => silentFor() > SUSPECT_MS;

	const hasSeenAll = (id: string, heard: number): boolean => {
		const needed = unseen.get(id);
		return needed === undefined || ('min' in needed && heard >= needed.min);
	};

	const reply = (id: string, number: string, heard: number) => {
		const knows = others()?.includes(id) ?? false;
		if (isSilent() && knows && hasSeenAll(id, heard) && !isWritable()) {
			promises.set(id, performance.now() + trustMs);
			line.say(`y:${id}:${number}:${self}`);
		} else {
			line.say(`n:${id}:${number}:${self}`);
		}
	};

	const distrust = () => {
		givenUntil = 0;
		question.promisedBy = new Set();
		question.number += 1;
	};

	line.onText((text) => {
		const [kind, id = '', number = '', last = ''] = text.split(':');
		if (kind === 'w' && id !== self) {
			reply(id, number, Number(last));
		} else if (kind === 'u' && id !== self) {
			distrust();
		} else if (id === self && Number(number) === question.number) {
			if (kind === 'n') {
				distrust();
			} else if (kind === 'y') {
				question.promisedBy.add(last);
				const known = others();
				if (known?.every((other) => question.promisedBy.has(other))) {
					givenUntil = question.askedAt + trustMs;
				}
			}
		}
	});

	const asking = setInterval(() => {
		if (isSilent() && (others()?.length ?? 0) > 0) {
			question = {number: question.number + 1, askedAt: performance.now(), promisedBy: new Set()};
			line.say(`w:${self}:${question.number}:${beats.heard}`);
		}
	}, ASK_MS);
	asking.unref();

	return {
		areAllGiven: (): boolean => performance.now() < givenUntil,
		/** The processes that this one has promised to answer no write before. */
		promisedTo: (): string[] => {
			const now = performance.now();
			for (const [id, until] of promises) {
				if (until < now) {
					promises.delete(id);
				}
			}

			return [...promises.keys()];
		},
		/** A heartbeat of another process has arrived. */
		heardBeat: (id: string, number: number): void => {
			const needed = unseen.get(id);
			if (needed !== undefined && 'after' in needed && beats.heard > needed.after) {
				unseen.set(id, {min: number});
			}
		},
		/** A write was answered although these processes did not acknowledge it. */
		answeredWithout: (ids: string[]): void => {
			for (const id of ids) {
				unseen.set(id, {after: beats.sent});
			}
		},
		forget: (id: string): void => {
			promises.delete(id);
			unseen.delete(id);
		},
		/** This process hears again: its writes need no promise of the others any more. */
		hearsAgain: (): void => {
			givenUntil = 0;
			line.say(`u:${self}`);
		},
		close: (): void => {
			clearInterval(asking);
			line.close();
		},
	};
};
