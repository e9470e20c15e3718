/** Whether all processes have heard what was committed before a question (docs/link-cache.md). */
export type Question = {
	/** What has to be told on the channel, after the write or in its transaction. */
	message: string;
	/**
	 * Resolves when everybody has answered who may trust its memory. Called after the commit: a process that began to
	 * before it is asked, too.
	 */
	answered(): Promise<void>;
	/** Forgets a question that is not asked. */
	drop(): void;
};

type Waiting = {answeredBy: Set<string>; left: Set<string> | null; done: () => void};

type Given = {
	self: string;
	/** Who has to answer, at this moment. */
	listening: () => string[];
	/** How long anybody is trusted that is not heard. */
	trustMs: number;
};

export const createQuestions = ({self, listening, trustMs}: Given) => {
	const waiting = new Map<number, Waiting>();
	let count = 0;

	const settle = (one: Waiting, id: string) => {
		one.left?.delete(id);
		if (one.left?.size === 0) {
			one.done();
		}
	};

	return {
		/** A process has answered a question of ours. */
		hear: (number: number, from: string): void => {
			const one = waiting.get(number);
			if (one !== undefined) {
				one.answeredBy.add(from);
				settle(one, from);
			}
		},

		/** A process is no longer waited for. */
		forget: (id: string): void => {
			for (const one of waiting.values()) {
				settle(one, id);
			}
		},

		open: (): Question => {
			count += 1;
			const number = count;
			const one: Waiting = {answeredBy: new Set(), left: null, done: () => {}};
			waiting.set(number, one);
			return {
				message: `q:${self}:${number}`,
				answered: async () => {
					const left = new Set(listening().filter((id) => !one.answeredBy.has(id)));
					if (left.size > 0) {
						await new Promise<void>((resolve) => {
							// Unheard, the question is answered by time: without the feed nobody is trusted longer.
							const bound = setTimeout(resolve, trustMs);
							one.left = left;
							one.done = () => {
								clearTimeout(bound);
								resolve();
							};
						});
					}

					waiting.delete(number);
				},
				drop: () => {
					waiting.delete(number);
				},
			};
		},
	};
};
