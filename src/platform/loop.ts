/** Schedules a call; the returned function cancels it. */
export type Schedule = (call: () => void, milliseconds: number) => () => void;

const byTimer: Schedule = (call, milliseconds) => {
	const timer = setTimeout(call, milliseconds).unref();
	return () => clearTimeout(timer);
};

/**
 * Runs turns one at a time: after the pause that the previous turn returned, or earlier after `wake`.
 * The timer does not keep the process alive.
 */
export class Loop {
	readonly #turn: () => Promise<number | null>;
	readonly #schedule: Schedule;
	#next: {at: number; cancel: () => void} | null = null;
	#running: Promise<void> | null = null;
	/** The pause after the running turn that a `wake` during the turn requested. */
	#pause: number | null = null;
	#isStopped = false;

	/** @param turn returns the milliseconds until the next turn, or null to wait for `wake`; it must not reject. */
	constructor(turn: () => Promise<number | null>, schedule: Schedule = byTimer) {
		this.#turn = turn;
		this.#schedule = schedule;
	}

	/** Runs a turn in `milliseconds`, or sooner if one is due sooner; during a turn, counted from its end. */
	wake(milliseconds = 0): void {
		if (this.#running !== null) {
			this.#pause = Math.min(this.#pause ?? milliseconds, milliseconds);
			return;
		}

		const at = performance.now() + milliseconds;
		if (this.#isStopped || (this.#next !== null && this.#next.at <= at)) {
			return;
		}

		this.#next?.cancel();
		this.#next = {at, cancel: this.#schedule(() => void this.run(), milliseconds)};
	}

	/** Runs a turn at once, or joins the running one. */
	run(): Promise<void> {
		this.#cancel();
		this.#running ??= this.#runOnce();
		return this.#running;
	}

	/** Begins no further turn; resolves when the running one has ended. */
	async stop(): Promise<void> {
		this.#isStopped = true;
		this.#cancel();
		await this.#running;
	}

	async #runOnce(): Promise<void> {
		const own = await this.#turn();
		const pauses = [own, this.#pause].filter((pause) => pause !== null);
		this.#running = null;
		this.#pause = null;
		if (pauses.length > 0) {
			this.wake(Math.min(...pauses));
		}
	}

	#cancel(): void {
		this.#next?.cancel();
		this.#next = null;
	}
}
