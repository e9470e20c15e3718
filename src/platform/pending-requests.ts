/** Requests to another process, by number. A timeout resolves a request with null. */
export const createPendingRequests = <Answer>(waitMs: number) => {
	const waiting = new Map<number, (answer: Answer | null) => void>();
	let latest = 0;
	return {
		ask: (send: (request: number) => void): Promise<Answer | null> =>
			new Promise((resolve) => {
				latest += 1;
				const request = latest;
				const settle = (answer: Answer | null): void => {
					waiting.delete(request);
					clearTimeout(deadline);
					resolve(answer);
				};
				const deadline = setTimeout(settle, waitMs, null).unref();
				waiting.set(request, settle);
				send(request);
			}),
		resolve: (request: number, answer: Answer): void => waiting.get(request)?.(answer),
		/** Resolves all pending requests with null, because the other process is gone. */
		end: (): void => {
			for (const settle of waiting.values()) {
				settle(null);
			}
		},
	};
};
