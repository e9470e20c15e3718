import {databaseUnavailable} from '../../errors.ts';

/** Shows that all processes received every change committed before it (docs/internals.md). */
export type Barrier = {
	/** To be sent on the channel, after the write. */
	message: string;
	/**
	 * Resolves when all processes that may trust their caches have acknowledged. Call it after the commit, so that
	 * processes that started before it are included.
	 */
	passed(): Promise<void>;
};

type Waiting = {answeredBy: Set<string>; left: Set<string> | null; done: () => void};

type Options = {
	self: string;
	/** The processes that must acknowledge at this moment. */
	listening: () => string[];
	/** How long a silent process may trust its cache. */
	trustMs: number;
	/** Of them, those that may trust theirs for longer: this process promised to answer no write. */
	promisedTo: () => string[];
	/** A write is answered that these processes have acknowledged. */
	onAnswer: (answeredBy: ReadonlySet<string>) => void;
};

/** How long a write waits while no process hears the database; then it is not answered. */
const PATIENCE_MS = 30_000;

export const createBarriers = ({self, listening, trustMs, promisedTo, onAnswer}: Options) => {
	const waiting = new Map<number, Waiting>();
	let count = 0;

	const settle = (one: Waiting, id: string) => {
		one.left?.delete(id);
		if (one.left?.size === 0) {
			one.done();
		}
	};

	/** Waits until all have acknowledged, or nobody else may trust a cache. */
	const wait = (one: Waiting, left: Set<string>): Promise<void> =>
		new Promise((resolve, reject) => {
			const began = performance.now();
			const check = () => {
				clearTimeout(again);
				const waited = performance.now() - began;
				if (waited > PATIENCE_MS) {
					reject(databaseUnavailable());
				} else if (
					// A lost barrier ends by timeout: without the feed, no cache is trusted longer.
					(left.size > 0 && waited < trustMs) ||
					promisedTo().some((id) => !one.answeredBy.has(id))
				) {
					again = setTimeout(check, waited < trustMs ? trustMs - waited : trustMs / 10);
				} else {
					resolve();
				}
			};
			let again = setTimeout(check, trustMs);
			one.left = left;
			one.done = check;
		});

	return {
		/** Records a process's acknowledgement of our barrier. */
		acknowledge: (number: number, from: string): void => {
			const one = waiting.get(number);
			if (one !== undefined) {
				one.answeredBy.add(from);
				settle(one, from);
			}
		},

		/** Stops waiting for a process. */
		forget: (id: string): void => {
			for (const one of waiting.values()) {
				settle(one, id);
			}
		},

		open: (): Barrier => {
			count += 1;
			const number = count;
			const one: Waiting = {answeredBy: new Set(), left: null, done: () => {}};
			waiting.set(number, one);
			return {
				message: `q:${self}:${number}`,
				passed: async () => {
					try {
						const left = new Set([...listening(), ...promisedTo()].filter((id) => !one.answeredBy.has(id)));
						if (left.size > 0) {
							await wait(one, left);
						}

						onAnswer(one.answeredBy);
					} finally {
						waiting.delete(number);
					}
				},
			};
		},
	};
};
