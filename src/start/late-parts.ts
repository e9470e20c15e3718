import type {RequestListener} from 'node:http';
import type {Services} from '../services.ts';

/** How long the rest waits where no request asks for it: visitors who came during the start have their pages first. */
const AFTER_MS = 250;

/** The part of the service that no page of a link needs. */
export type LateParts = {
	/** Answers by the table of routes; what comes before it is there waits for it. */
	answer: RequestListener;
	isLoaded(): boolean;
	/** Has the rest loaded, the table of routes and the jobs, by the first request for it, and soon at the latest. */
	loadSoon(): void;
	/** Ends the jobs; those that did not start yet never do. */
	stop(): void;
};

/** The modules of the late parts; the build has V8 compile them ahead, too. */
export const loadLate = async () => {
	const [{createApp}, {startJobs}] = await Promise.all([import('../app.ts'), import('../jobs/start-jobs.ts')]);
	return {createApp, startJobs};
};

/**
 * Loads all surfaces but the pages after these answer. Koa, joi with some hundred schemas, and the features behind them are
 * half of what a start has to load (docs/performance.md).
 */
export const createLateParts = (services: Services): LateParts => {
	let loading: Promise<RequestListener> | null = null;
	let loaded: RequestListener | null = null;
	let timer: NodeJS.Timeout | null = null;
	let isStopped = false;
	let stopJobs = (): void => {};

	const load = async (): Promise<RequestListener> => {
		const {createApp, startJobs} = await loadLate();
		loaded = createApp(services);
		if (!isStopped) {
			stopJobs = startJobs(services);
		}

		return loaded;
	};

	const rest = (): Promise<RequestListener> => {
		loading ??= load();
		return loading;
	};

	return {
		answer: (request, response) => {
			if (loaded === null) {
				void rest().then((answer) => answer(request, response));
			} else {
				loaded(request, response);
			}
		},
		isLoaded: () => loaded !== null,
		loadSoon: () => {
			timer = setTimeout(() => void rest(), AFTER_MS);
		},
		stop: () => {
			isStopped = true;
			if (timer !== null) {
				clearTimeout(timer);
			}

			stopJobs();
		},
	};
};
