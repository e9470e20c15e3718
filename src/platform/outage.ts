import type {Logger} from 'pino';

type Level = 'info' | 'warn' | 'error';

/**
 * `ended` null: the end is not logged, because the next success shows it. `levels`: of the two lines (default: warn and
 * info).
 */
type Messages = {began: string; ended: string | null; levels?: {began: Level; ended: Level}};

/**
 * A fault that lasts, such as an unreachable database: one warning when it begins and one line when it ends.
 */
export class Outage {
	readonly #log: Pick<Logger, Level>;
	readonly #messages: Messages;
	#isOpen = false;
	#isClosed = false;

	constructor(log: Pick<Logger, Level>, messages: Messages) {
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
		this.#log[this.#messages.levels?.began ?? 'warn']({err: error}, this.#messages.began);
		return true;
	}

	/** @param fields of the line. */
	end(fields?: object): void {
		const {ended, levels} = this.#messages;
		if (!this.#isOpen || this.#isClosed) {
			return;
		}

		this.#isOpen = false;
		const level = levels?.ended ?? 'info';
		if (ended !== null && fields === undefined) {
			this.#log[level](ended);
		} else if (ended !== null) {
			this.#log[level](fields, ended);
		}
	}

	/** Logs nothing from now on: a stop breaks connections, and none of them is an outage. */
	close(): void {
		this.#isClosed = true;
	}
}
