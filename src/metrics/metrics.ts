import type {Clock} from '../clock.ts';
import {createCounter, createGauge, createHistogram, type Metric} from './instruments.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The route label of requests without a route. */
const NO_ROUTE = 'none';

type WebhookSource = 'identity' | 'gateway_a' | 'gateway_b';

/** The service's own metrics. One instance per service, so that several can run in one process. */
export const createMetrics = (clock: Clock) => {
	const requests = createCounter({
		name: 'oplink_http_requests_total',
		help: 'Answered requests by route pattern and class of the status.',
		labels: ['method', 'route', 'status'],
	});
	const durations = createHistogram({
		name: 'oplink_http_request_duration_seconds',
		help: 'Time until a request was answered; of a stream until it began.',
		labels: ['method', 'route'],
		buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
	});
	const resolutions = createCounter({
		name: 'oplink_resolutions_total',
		help: 'Short link requests by outcome.',
		labels: ['outcome'],
	});
	const clicks = createCounter({
		name: 'oplink_clicks_recorded_total',
		help: 'Clicks that are stored, of people and of crawlers.',
		labels: ['visitor'],
	});
	const matches = createCounter({
		name: 'oplink_matches_total',
		help: 'Match requests by method and confidence; a miss has NONE and none.',
		labels: ['method', 'confidence'],
	});
	const guesses = createCounter({
		name: 'oplink_guesses_graded_total',
		help: 'Guesses that a token proved right or wrong, by organization and confidence.',
		labels: ['organization', 'confidence', 'verdict'],
	});
	const refused = createCounter({
		name: 'oplink_rate_limited_total',
		help: 'Requests refused by a rate limit.',
		labels: ['limit'],
	});
	const lags = createHistogram({
		name: 'oplink_webhook_lag_seconds',
		help: 'From an event at its sender to its delivery here.',
		labels: ['source'],
		buckets: [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400],
	});
	const jobs = new Map<string, {succeeded: number; failures: number}>();
	const job = (name: string) => {
		const known = jobs.get(name) ?? {succeeded: 0, failures: 0};
		jobs.set(name, known);
		return known;
	};
	const jobSuccess = createGauge(
		{
			name: 'oplink_job_last_success_timestamp_seconds',
			help: 'Time of the last successful run of a job; 0 if none.',
			labels: ['task'],
			across: 'newest',
		},
		() => [...jobs].map(([name, {succeeded}]) => ({labels: [name], value: succeeded})),
	);
	const jobFailures = createGauge(
		{name: 'oplink_job_failures_total', help: 'Runs of a job that failed.', labels: ['task'], across: 'total'},
		() => [...jobs].map(([name, {failures}]) => ({labels: [name], value: failures})),
	);
	const own: Metric[] = [
		requests,
		durations,
		resolutions,
		clicks,
		matches,
		guesses,
		refused,
		lags,
		jobSuccess,
		jobFailures,
	];

	return {
		/** @param route the matching route's pattern, never the path; null for none. */
		request: (method: string, route: string | null, status: number, seconds: number): void => {
			const verb = METHODS.has(method) ? method : 'other';
			requests.add(verb, route ?? NO_ROUTE, `${Math.floor(status / 100)}xx`);
			durations.observe(seconds, verb, route ?? NO_ROUTE);
		},
		resolution: (
			outcome: 'page' | 'preview' | 'data' | 'unknown_code' | 'malformed' | 'not_found' | 'gone' | 'failed',
		) => resolutions.add(outcome),
		click: (visitor: 'person' | 'crawler') => clicks.add(visitor),
		match: (method: string, confidence: string) => matches.add(method, confidence),
		guess: (organizationId: string, confidence: string, isRight: boolean) =>
			guesses.add(organizationId, confidence, isRight ? 'right' : 'wrong'),
		rateLimited: (limit: string) => refused.add(limit),
		/** @param at the sender's time of the event; null if unknown. */
		webhook: (source: WebhookSource, at: Date | null): void => {
			if (at !== null && !Number.isNaN(at.getTime())) {
				lags.observe(Math.max(0, (clock.now().getTime() - at.getTime()) / 1000), source);
			}
		},
		/**
		 * Records the outcome of a job's run and rethrows its error.
		 * @param isDone whether a result is a success; others do not count as failures.
		 */
		job: async <T>(name: string, work: Promise<T>, isDone: (result: T) => boolean = () => true): Promise<T> => {
			// Recorded at its start, so that a run that never ends is visible.
			const run = job(name);
			try {
				const result = await work;
				if (isDone(result)) {
					run.succeeded = clock.now().getTime() / 1000;
				}

				return result;
			} catch (error) {
				run.failures += 1;
				throw error;
			}
		},
		/** The metrics counted here; `readFigures` has all. */
		own,
	};
};

export type Metrics = ReturnType<typeof createMetrics>;
