/** The heartbeats that this process has received, its own and those of others, by the monotonic clock. */
export class Heartbeats {
	readonly #beatMs: number;
	readonly #trustMs: number;
	readonly #others = new Map<string, number>();
	/** The first and last own heartbeat on the latest connection; null before the first. */
	#received: {first: number; last: number} | null = null;
	#sentAt = 0;
	#trustedUntil = 0;
	/** When a connection came up that has not delivered an own heartbeat; null if it has. */
	#silentSince: number | null = performance.now();
	/** The numbers of the latest own heartbeats. */
	readonly own = {sent: 0, received: 0};

	/** @param beatMs the interval of heartbeats. @param trustMs how long after one a process may trust its memory. */
	constructor({beatMs, trustMs}: {beatMs: number; trustMs: number}) {
		this.#beatMs = beatMs;
		this.#trustMs = trustMs;
	}

	/** The number of the next own heartbeat, sent now. */
	next(): number {
		this.#sentAt = performance.now();
		this.own.sent += 1;
		return this.own.sent;
	}

	receiveOwn(number: number): void {
		// A late heartbeat proves nothing about the time since the next one was sent.
		if (number === this.own.sent) {
			this.#trustedUntil = this.#sentAt + this.#trustMs;
		}

		this.#silentSince = null;
		this.own.received = number;
		this.#received = {first: this.#received?.first ?? performance.now(), last: performance.now()};
	}

	receiveOther(id: string): void {
		this.#others.set(id, performance.now());
	}

	/** A new connection has delivered nothing yet. */
	startAgain(): void {
		this.#silentSince = performance.now();
		this.#received = null;
	}

	endTrust(): void {
		this.#trustedUntil = 0;
	}

	isTrusted(): boolean {
		return performance.now() < this.#trustedUntil;
	}

	/** A pooler in front of PostgreSQL may accept all messages and deliver none: such a process never trusts its memory. */
	isDeaf(): boolean {
		return this.#silentSince !== null && performance.now() - this.#silentSince > this.#trustMs;
	}

	/** Milliseconds since the last own heartbeat arrived. */
	silentFor(): number {
		return this.#received === null ? Number.POSITIVE_INFINITY : performance.now() - this.#received.last;
	}

	/** All others that are known; null if this process has not received for long enough to know them. */
	known(): string[] | null {
		return this.#knowsOthers() ? this.all() : null;
	}

	all(): string[] {
		return [...this.#others.keys()];
	}

	/** Others that may still trust their memory. */
	living(): string[] {
		const now = performance.now();
		return [...this.#others].filter(([, at]) => at + this.#trustMs >= now).map(([id]) => id);
	}

	/** Others that were silent while this process received its own heartbeats, or since it listens again. */
	gone(): string[] {
		const end = Math.min(performance.now(), this.#received?.last ?? Number.POSITIVE_INFINITY);
		return [...this.#others].filter(([, at]) => at + this.#trustMs < end).map(([id]) => id);
	}

	/**
	 * Whether there is no other process. A process that receives nothing does not know whether others are silent, so only
	 * the time in which it received its own heartbeats counts.
	 */
	isAlone(): boolean {
		const last = this.#received?.last ?? 0;
		return this.#knowsOthers() && [...this.#others.values()].every((at) => at + this.#trustMs < last);
	}

	forget(id: string): void {
		this.#others.delete(id);
	}

	/** A process that receives nothing knows no other. */
	#knowsOthers(): boolean {
		return this.#received !== null && this.#received.last - this.#received.first >= this.#beatMs;
	}
}
