import {databaseUnavailable} from '../../errors.ts';

/** Shows that all processes received every change committed before it (docs/internals.md). */
export type Barrier = {
	/** To be sent on the channel, after the write. */
	message: string;
	/**
	 * Resolves when all processes that may trust their caches have acknowledged. Call it after the commit, because
	 * processes that started before it must be included.
	 */
	passed(): Promise<void>;
};

type PendingBarrier = {answeredBy: Set<string>; left: Set<string> | null; check: () => void};

type Options = {
	self: string;
	/** The processes that must acknowledge at this moment. */
	listening: () => string[];
	/** How long a silent process may trust its cache. */
	trustMs: number;
	/** The processes that may trust their caches for longer, because this process promised to answer no write. */
	promisedTo: () => string[];
	/** A write is answered that these processes have acknowledged. */
	onAnswer: (answeredBy: ReadonlySet<string>) => void;
};

/** How long a write waits while no process receives messages of the database; then it is not answered. */
const TIMEOUT_MS = 30_000;

export class Barriers {
	readonly #options: Options;
	readonly #waiting = new Map<number, PendingBarrier>();
	#count = 0;

	constructor(options: Options) {
		this.#options = options;
	}

	open(): Barrier {
		this.#count += 1;
		const number = this.#count;
		const barrier: PendingBarrier = {answeredBy: new Set(), left: null, check: () => {}};
		this.#waiting.set(number, barrier);
		return {
			message: `q:${this.#options.self}:${number}`,
			passed: async () => {
				const {listening, promisedTo, onAnswer} = this.#options;
				try {
					const left = new Set([...listening(), ...promisedTo()].filter((id) => !barrier.answeredBy.has(id)));
					if (left.size > 0) {
						await this.#wait(barrier, left);
					}

					onAnswer(barrier.answeredBy);
				} finally {
					this.#waiting.delete(number);
				}
			},
		};
	}

	/** Records a process's acknowledgement of a barrier of this process. */
	acknowledge(number: number, from: string): void {
		const barrier = this.#waiting.get(number);
		if (barrier !== undefined) {
			barrier.answeredBy.add(from);
			this.#settle(barrier, from);
		}
	}

	/** Stops waiting for a process. */
	forget(id: string): void {
		for (const barrier of this.#waiting.values()) {
			this.#settle(barrier, id);
		}
	}

	#settle(barrier: PendingBarrier, id: string): void {
		barrier.left?.delete(id);
		if (barrier.left?.size === 0) {
			barrier.check();
		}
	}

	/** Waits until all have acknowledged, or no other process may trust a cache. */
	#wait(barrier: PendingBarrier, left: Set<string>): Promise<void> {
		const {trustMs, promisedTo} = this.#options;
		return new Promise((resolve, reject) => {
			const began = performance.now();
			const check = () => {
				clearTimeout(timer);
				const waited = performance.now() - began;
				if (waited > TIMEOUT_MS) {
					reject(databaseUnavailable());
				} else if (
					// A lost barrier ends by timeout: without the feed, no cache is trusted longer.
					(left.size > 0 && waited < trustMs) ||
					promisedTo().some((id) => !barrier.answeredBy.has(id))
				) {
					timer = setTimeout(check, waited < trustMs ? trustMs - waited : trustMs / 10);
				} else {
					resolve();
				}
			};
			let timer = setTimeout(check, trustMs);
			barrier.left = left;
			barrier.check = check;
		});
	}
}
