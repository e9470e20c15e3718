import type {RequestListener} from 'node:http';
import {performance} from 'node:perf_hooks';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {Loop} from '../platform/loop.ts';
import type {Services} from '../services.ts';
import {readAhead} from '../visits/visit/link-rows.ts';

/** The pause before loading, because visits during the start get their pages first. */
const PAUSE_MS = 250;

/** Loading waits while pages of a cold process use more than this share of the event loop's time, at most `MAX_PAUSES`. */
const BUSY = 0.5;
const MAX_PAUSES = 40;

/** Modules that take 15 to 50 ms each, 0.2 s in total. Pages are answered between two of them. */
const PARTS = [
	() => import('joi'),
	() => import('koa'),
	() => import('@koa/router'),
	() => import('../accounts/administration/organization-routes.ts'),
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
 * All surfaces except the pages, and the jobs, loaded after pages are served. Koa, joi with some hundred schemas and the
 * features are half of a start's loading (docs/measurements.md).
 */
export class LazyApp {
	readonly #services: Services;
	readonly #loading = new Loop(() => this.#loadIfIdle());
	#pauses = 0;
	#utilization = performance.eventLoopUtilization();
	#app: Promise<RequestListener> | null = null;
	#loaded: RequestListener | null = null;
	#stopJobs: (() => void) | null = null;
	#isStopped = false;

	constructor(services: Services) {
		this.#services = services;
	}

	/** Answers by the route table; earlier requests load it and wait. */
	readonly answer: RequestListener = (request, response) => {
		if (this.#loaded === null) {
			void this.#load().then((answer) => answer(request, response));
		} else {
			this.#loaded(request, response);
		}
	};

	/** Reads the links ahead that people visit most and then loads the rest, when pages leave time for it. */
	loadSoon(): void {
		this.#loading.wake(PAUSE_MS);
	}

	/** Stops the jobs; those that have not started yet never start. */
	stop(): void {
		this.#isStopped = true;
		void this.#loading.stop();
		this.#stopJobs?.();
	}

	/** @returns the pause until the next attempt; null after loading. */
	async #loadIfIdle(): Promise<number | null> {
		const before = this.#utilization;
		this.#utilization = performance.eventLoopUtilization();
		this.#pauses += 1;
		if (this.#pauses === 1) {
			this.#services.background.run('read the most visited links ahead', readAhead(this.#services));
			return PAUSE_MS;
		}

		const {utilization} = performance.eventLoopUtilization(this.#utilization, before);
		if (utilization > BUSY && this.#pauses <= MAX_PAUSES) {
			return PAUSE_MS;
		}

		for (const part of PARTS) {
			await part();
			await nextTurn();
		}

		await this.#load();
		return null;
	}

	#load(): Promise<RequestListener> {
		this.#app ??= loadLazyModules().then(({createApp, startJobs}) => {
			this.#loaded = createApp(this.#services);
			if (!this.#isStopped) {
				this.#stopJobs = startJobs(this.#services);
			}

			return this.#loaded;
		});
		return this.#app;
	}
}
