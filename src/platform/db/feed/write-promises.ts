/** Messages between the processes of an installation that work without PostgreSQL, and may be lost. */
export type PeerLine = {
	/** Sends a text to all other processes, and perhaps to this one. */
	say(text: string): void;
	onText(listener: (text: string) => void): void;
	close(): void;
};

/** A process that has not received its own heartbeat for this long asks the others, this often. */
const SUSPECT_MS = 1250;
const ASK_MS = 250;

type Options = {
	self: string;
	line: PeerLine;
	/** How long a promise holds. */
	trustMs: number;
	/** Milliseconds since this process last received its own heartbeat. */
	silentFor: () => number;
	/** The other processes; null if it has not listened for long enough to know them. */
	others: () => string[] | null;
	/** The numbers of its latest heartbeats. */
	beats: {readonly sent: number; readonly received: number};
	/** Whether a write committed while this process received nothing, so that the database accepts writes. */
	isWritable: () => boolean;
};

/**
 * Keeps memory valid while PostgreSQL is unavailable to every process: a process that receives nothing asks the others,
 * and each that receives nothing either promises to answer no write for a while. With the promises of all, no write can
 * have been answered.
 *
 * Messages on the line: `w:ID:N:RECEIVED` a question with the last own heartbeat received, `y:ID:N:FROM` a promise,
 * `n:ID:N:FROM` a refusal, `u:ID` a process that receives again.
 */
export class WritePromises {
	readonly #options: Options;
	readonly #asking: NodeJS.Timeout;
	#question = {number: 0, askedAt: 0, promisedBy: new Set<string>()};
	#givenUntil = 0;
	/** Until when this process answers no write, unless the other process has seen it. */
	readonly #promises = new Map<string, number>();
	/**
	 * Processes that may not have seen a write answered here, and the proof that they have: a heartbeat of theirs that they
	 * received, sent after this process received a heartbeat of its own sent after the write.
	 */
	readonly #unseen = new Map<string, {after: number} | {min: number}>();

	constructor(options: Options) {
		this.#options = options;
		options.line.onText((text) => this.#receive(text));
		this.#asking = setInterval(() => this.#ask(), ASK_MS).unref();
	}

	areAllGiven(): boolean {
		return performance.now() < this.#givenUntil;
	}

	/** The processes that this one has promised to answer no write before. */
	promisedTo(): string[] {
		const now = performance.now();
		for (const [id, until] of this.#promises) {
			if (until < now) {
				this.#promises.delete(id);
			}
		}

		return [...this.#promises.keys()];
	}

	/** A heartbeat of another process has arrived. */
	receiveBeat(id: string, number: number): void {
		const proof = this.#unseen.get(id);
		if (proof !== undefined && 'after' in proof && this.#options.beats.received > proof.after) {
			this.#unseen.set(id, {min: number});
		}
	}

	/** A write was answered although these processes did not acknowledge it. */
	answeredWithout(ids: string[]): void {
		for (const id of ids) {
			this.#unseen.set(id, {after: this.#options.beats.sent});
		}
	}

	forget(id: string): void {
		this.#promises.delete(id);
		this.#unseen.delete(id);
	}

	/** This process receives again: its writes need no promise of the others any more. */
	end(): void {
		this.#givenUntil = 0;
		this.#options.line.say(`u:${this.#options.self}`);
	}

	close(): void {
		clearInterval(this.#asking);
		this.#options.line.close();
	}

	#isSilent(): boolean {
		return this.#options.silentFor() > SUSPECT_MS;
	}

	#ask(): void {
		const {self, line, others, beats} = this.#options;
		if (this.#isSilent() && (others()?.length ?? 0) > 0) {
			this.#question = {number: this.#question.number + 1, askedAt: performance.now(), promisedBy: new Set()};
			line.say(`w:${self}:${this.#question.number}:${beats.received}`);
		}
	}

	#receive(text: string): void {
		const {self} = this.#options;
		const [kind, id = '', number = '', last = ''] = text.split(':');
		if (kind === 'w' && id !== self) {
			this.#reply(id, number, Number(last));
		} else if (kind === 'u' && id !== self) {
			this.#distrust();
		} else if (id === self && Number(number) === this.#question.number) {
			if (kind === 'n') {
				this.#distrust();
			} else if (kind === 'y') {
				this.#accept(last);
			}
		}
	}

	#reply(id: string, number: string, received: number): void {
		const {self, line, trustMs, others, isWritable} = this.#options;
		const isKnown = others()?.includes(id) ?? false;
		if (this.#isSilent() && isKnown && this.#hasSeenAll(id, received) && !isWritable()) {
			this.#promises.set(id, performance.now() + trustMs);
			line.say(`y:${id}:${number}:${self}`);
		} else {
			line.say(`n:${id}:${number}:${self}`);
		}
	}

	#hasSeenAll(id: string, received: number): boolean {
		const proof = this.#unseen.get(id);
		return proof === undefined || ('min' in proof && received >= proof.min);
	}

	#accept(from: string): void {
		const {promisedBy, askedAt} = this.#question;
		promisedBy.add(from);
		if (this.#options.others()?.every((other) => promisedBy.has(other))) {
			this.#givenUntil = askedAt + this.#options.trustMs;
		}
	}

	#distrust(): void {
		this.#givenUntil = 0;
		this.#question.promisedBy = new Set();
		this.#question.number += 1;
	}
}
