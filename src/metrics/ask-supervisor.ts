import type {Figure} from './instruments.ts';

/**
 * The worker's side: requests the figures of all workers from its supervisor, which sends them in a separate message.
 */
export const createFigureRequests = (ask: (request: number) => void) => {
	const waiting = new Map<number, (figures: Figure[]) => void>();
	let latest = 0;
	return {
		/** No timeout: workers end with their supervisor. */
		figuresOfAll: (): Promise<Figure[]> =>
			new Promise((resolve) => {
				latest += 1;
				waiting.set(latest, resolve);
				ask(latest);
			}),
		resolve: (request: number, figures: Figure[]): void => {
			waiting.get(request)?.(figures);
			waiting.delete(request);
		},
	};
};
