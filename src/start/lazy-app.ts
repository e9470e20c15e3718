import type {RequestListener} from 'node:http';
import type {Services} from '../services.ts';
import {readAhead} from '../visits/resolution/visit/resolve-link.ts';

/** How long loading waits without such a request, so that visitors during the start get their pages first. */
const AFTER_MS = 250;

/** The part of the service that link pages do not need. */
type LazyApp = {
	/** Answers by the route table; earlier requests wait until it is loaded. */
	answer: RequestListener;
	/**
	 * Loads the route table and the jobs, on the first request that needs them or after a short delay. Then reads the most
	 * tapped links ahead, too.
	 */
	loadSoon(): void;
	/** Stops the jobs; those not started yet never start. */
	stop(): void;
};

/** The lazily loaded modules; the build adds them to the compile cache. */
const loadLazyModules = async () => {
	const [{createApp}, {startJobs}] = await Promise.all([
		import('../app.ts'),
		import('../operations/jobs/start-jobs.ts'),
	]);
	return {createApp, startJobs};
};

/**
 * Loads all surfaces except the pages after these are served. Koa, joi with some hundred schemas and the features are
 * half of a start's loading (docs/performance.md).
 */
export const createLazyApp = (services: Services): LazyApp => {
	let loading: Promise<RequestListener> | null = null;
	let loaded: RequestListener | null = null;
	let timer: NodeJS.Timeout | null = null;
	let isStopped = false;
	let stopJobs = (): void => {};

	const load = async (): Promise<RequestListener> => {
		const {createApp, startJobs} = await loadLazyModules();
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
		loadSoon: () => {
			timer = setTimeout(() => {
				services.background.run('read the most tapped links ahead', readAhead(services));
				void rest();
			}, AFTER_MS);
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
