/** Questions to all processes whether they have heard what was committed before. */
export type ChangeQuestions = {
	/** A process has heard a question: it has said so, or it is this one. */
	heardBy(id: string, number: number): void;
	/** A process is not waited for any more. */
	forget(id: string): void;
	/** Resolves when each process has heard what was committed until now, or may not trust its caches any more. */
	settled(): Promise<void>;
};

type Given = {
	/** Who is asked: processes that may still trust their caches. */
	whoToAsk: () => string[];
	/** Other processes of which that is so. */
	living: () => string[];
	say: (number: number) => Promise<void>;
	/** For how long a process that does not answer trusts its caches, in milliseconds. */
	trustMs: number;
};

type Waiting = {left: Set<string>; done: () => void};

export const createChangeQuestions = ({whoToAsk, living, say, trustMs}: Given): ChangeQuestions => {
	const waiting = new Map<number, Waiting>();
	let questions = 0;

	const leave = (question: Waiting | undefined, id: string) => {
		question?.left.delete(id);
		if (question?.left.size === 0) {
			question.done();
		}
	};

	const ask = async (): Promise<void> => {
		const left = new Set(whoToAsk());
		if (left.size === 0) {
			return;
		}

		questions += 1;
		const number = questions;
		await new Promise<void>((resolve) => {
			const bound = setTimeout(resolve, trustMs);
			const done = () => {
				clearTimeout(bound);
				resolve();
			};
			waiting.set(number, {left, done});
			// Unheard, the question is answered by time: without this feed nobody is trusted longer than the bound.
			say(number).catch(() => {
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
		heardBy: (id, number) => leave(waiting.get(number), id),
		forget: (id) => {
			for (const [, question] of waiting) {
				leave(question, id);
			}
		},
		settled,
	};
};
