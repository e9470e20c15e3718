import {Counter, Gauge, Histogram, Registry} from 'prom-client';
import type {Clock} from '../clock.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The route label of requests without a route. */
const NO_ROUTE = 'none';

type WebhookSource = 'identity' | 'gateway_a' | 'gateway_b';

/** Label values come from closed sets, because each combination is kept forever. */
const createInstruments = (registers: Registry[]) => ({
	requests: new Counter({
		name: 'oplink_http_requests_total',
		help: 'Answered requests by route pattern and class of the status.',
		labelNames: ['method', 'route', 'status'],
		registers,
	}),
	durations: new Histogram({
		name: 'oplink_http_request_duration_seconds',
		help: 'Time until a request was answered; of a stream until it began.',
		labelNames: ['method', 'route'],
		buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
		registers,
	}),
	resolutions: new Counter({
		name: 'oplink_resolutions_total',
		help: 'Short link requests by outcome.',
		labelNames: ['outcome'],
		registers,
	}),
	clicks: new Counter({
		name: 'oplink_clicks_recorded_total',
		help: 'Clicks that are stored, of people and of crawlers.',
		labelNames: ['visitor'],
		registers,
	}),
	matches: new Counter({
		name: 'oplink_matches_total',
		help: 'Match requests by method and confidence; a miss has NONE and none.',
		labelNames: ['method', 'confidence'],
		registers,
	}),
	guesses: new Counter({
		name: 'oplink_guesses_graded_total',
		help: 'Guesses that a token proved right or wrong, by organization and confidence.',
		labelNames: ['organization', 'confidence', 'verdict'],
		registers,
	}),
	refused: new Counter({
		name: 'oplink_rate_limited_total',
		help: 'Requests refused by a rate limit.',
		labelNames: ['limit'],
		registers,
	}),
	abuseReports: new Counter({
		name: 'oplink_abuse_reports_total',
		help: 'Reports of links.',
		labelNames: ['reason'],
		registers,
	}),
	lags: new Histogram({
		name: 'oplink_webhook_lag_seconds',
		help: 'From an event at its sender to its delivery here.',
		labelNames: ['source'],
		buckets: [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400],
		registers,
	}),
	deliveries: new Counter({
		name: 'oplink_webhook_tries_total',
		help: 'Attempts to send a webhook to an endpoint, by outcome.',
		labelNames: ['outcome'],
		registers,
	}),
	disabledEndpoints: new Counter({
		name: 'oplink_webhook_endpoints_disabled_total',
		help: 'Webhook endpoints that were disabled because no delivery succeeded.',
		registers,
	}),
	overdueAttempts: new Gauge({
		name: 'oplink_webhook_attempts_overdue',
		help: 'Attempts to send a webhook that have outlived their lease of a minute and not ended; a fault of Oplink.',
		registers,
	}),
	successes: new Gauge({
		name: 'oplink_job_last_success_timestamp_seconds',
		help: 'Time of the last successful run of a job; 0 if none.',
		labelNames: ['task'],
		aggregator: 'max',
		registers,
	}),
	failures: new Counter({
		name: 'oplink_job_failures_total',
		help: 'Runs of a job that failed.',
		labelNames: ['task'],
		registers,
	}),
});

/** The service's own metrics. Each service has a registry of its own, because several can run in one process. */
export const createMetrics = (clock: Clock) => {
	const registry = new Registry();
	const instruments = createInstruments([registry]);

	return {
		/** @param route the matching route's pattern, never the path; null for none. */
		request: (method: string, route: string | null, status: number, seconds: number): void => {
			const verb = METHODS.has(method) ? method : 'other';
			const pattern = route ?? NO_ROUTE;
			instruments.requests.inc({method: verb, route: pattern, status: `${Math.floor(status / 100)}xx`});
			instruments.durations.observe({method: verb, route: pattern}, seconds);
		},
		resolution: (
			outcome: 'page' | 'preview' | 'data' | 'unknown_code' | 'warned' | 'malformed' | 'not_found' | 'gone' | 'failed',
		) => instruments.resolutions.inc({outcome}),
		click: (visitor: 'person' | 'crawler') => instruments.clicks.inc({visitor}),
		match: (method: string, confidence: string) => instruments.matches.inc({method, confidence}),
		guess: (organizationId: string, confidence: string, isRight: boolean) =>
			instruments.guesses.inc({organization: organizationId, confidence, verdict: isRight ? 'right' : 'wrong'}),
		abuseReport: (reason: string) => instruments.abuseReports.inc({reason}),
		rateLimited: (limit: string) => instruments.refused.inc({limit}),
		delivery: (outcome: 'delivered' | 'failed') => instruments.deliveries.inc({outcome}),
		endpointDisabled: () => instruments.disabledEndpoints.inc(),
		overdueAttempts: (count: number) => instruments.overdueAttempts.set(count),
		/** @param at the sender's time of the event; null if unknown. */
		webhook: (source: WebhookSource, at: Date | null): void => {
			if (at !== null && !Number.isNaN(at.getTime())) {
				instruments.lags.observe({source}, Math.max(0, (clock.now().getTime() - at.getTime()) / 1000));
			}
		},
		/**
		 * Records the outcome of a job's run and rethrows its error.
		 * @param isDone whether a result is a success; others do not count as failures.
		 */
		job: async <T>(name: string, work: Promise<T>, isDone: (result: T) => boolean = () => true): Promise<T> => {
			// Recorded at its start, because a run that never ends must be visible.
			instruments.successes.inc({task: name}, 0);
			instruments.failures.inc({task: name}, 0);
			try {
				const result = await work;
				if (isDone(result)) {
					instruments.successes.set({task: name}, clock.now().getTime() / 1000);
				}

				return result;
			} catch (error) {
				instruments.failures.inc({task: name});
				throw error;
			}
		},
		/** The metrics counted here; `readFigures` has all. */
		registry,
	};
};

export type Metrics = ReturnType<typeof createMetrics>;
