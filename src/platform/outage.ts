import type {Logger} from 'pino';

/**
 * A fault that lasts, such as an unreachable database: one warning when it begins and one line when it ends.
 */
export class Outage {
	readonly #log: Pick<Logger, 'info' | 'warn'>;
	readonly #messages: {began: string; ended: string | null};
	#isOpen = false;
	#isClosed = false;

	/** @param messages `ended` null: the end is not logged, because the next success shows it. */
	constructor(log: Pick<Logger, 'info' | 'warn'>, messages: {began: string; ended: string | null}) {
		this.#log = log;
		this.#messages = messages;
	}

	get isOpen(): boolean {
		return this.#isOpen;
	}

	/** @returns whether the outage began with this fault. */
	begin(error?: unknown): boolean {
		if (this.#isOpen || this.#isClosed) {
			return false;
		}

		this.#isOpen = true;
		this.#log.warn({err: error}, this.#messages.began);
		return true;
	}

	end(): void {
		if (this.#isOpen && !this.#isClosed) {
			this.#isOpen = false;
			if (this.#messages.ended !== null) {
				this.#log.info(this.#messages.ended);
			}
		}
	}

	/** Logs nothing from now on: a stop breaks connections, and none of them is an outage. */
	close(): void {
		this.#isClosed = true;
	}
}
