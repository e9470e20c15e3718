/** Questions to another process, by number. One that is not answered in time is answered with null. */
export const createQuestions = <Answer>(waitMs: number) => {
	const waiting = new Map<number, (answer: Answer | null) => void>();
	let latest = 0;
	return {
		ask: (send: (question: number) => void): Promise<Answer | null> =>
			new Promise((resolve) => {
				latest += 1;
				const question = latest;
				const answered = (answer: Answer | null): void => {
					waiting.delete(question);
					clearTimeout(deadline);
					resolve(answer);
				};
				const deadline = setTimeout(answered, waitMs, null).unref();
				waiting.set(question, answered);
				send(question);
			}),
		answered: (question: number, answer: Answer): void => waiting.get(question)?.(answer),
		/** Answers all that are left with null: the other process is gone. */
		end: (): void => {
			for (const answered of waiting.values()) {
				answered(null);
			}
		},
	};
};
