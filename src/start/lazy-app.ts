import type {RequestListener} from 'node:http';
import {performance} from 'node:perf_hooks';
import {setImmediate as nextTurn} from 'node:timers/promises';
import type {Services} from '../services.ts';
import {readAhead} from '../visits/resolution/visit/link-rows.ts';

/** How long loading waits without such a request, so that visitors during the start get their pages first. */
const AFTER_MS = 250;

/**
 * Loading takes the processor for 0.2 s: it waits while pages of a cold process keep the event loop busier than this
 * share of the time, but for so many turns of AFTER_MS at most.
 */
const BUSY = 0.5;
const MAX_TURNS = 40;

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

/** Parts of the surfaces that take 15 to 50 ms each. Loaded one by one, they let pages be answered in between. */
const PARTS = [
	() => import('joi'),
	() => import('koa'),
	() => import('@koa/router'),
	() => import('../accounts/organizations/organization-routes.ts'),
	() => import('../links/links/routes.ts'),
	() => import('../visits/matches/routes.ts'),
	() => import('../routes.ts'),
];

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
 * half of a start's loading (docs/measurements.md).
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

	const loadInParts = async (): Promise<void> => {
		for (const part of PARTS) {
			await part();
			await nextTurn();
		}

		await rest();
	};

	const loadWhenIdle = (turns: number, before = performance.eventLoopUtilization()): void => {
		timer = setTimeout(() => {
			const used = performance.eventLoopUtilization();
			if (turns > 1 && performance.eventLoopUtilization(used, before).utilization > BUSY) {
				loadWhenIdle(turns - 1, used);
			} else {
				void loadInParts();
			}
		}, AFTER_MS);
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
				loadWhenIdle(MAX_TURNS);
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
