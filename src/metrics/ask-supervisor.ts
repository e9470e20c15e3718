import type {Figure} from './instruments.ts';

/** A worker's end: asks its supervisor for the figures of all, which come in a message of their own. */
export const createFigureRequests = (ask: (request: number) => void) => {
	const waiting = new Map<number, (figures: Figure[]) => void>();
	let latest = 0;
	return {
		/** Waits as long as it takes: a supervisor that is gone takes its workers along. */
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
