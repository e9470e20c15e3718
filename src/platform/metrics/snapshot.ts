import {type IntervalHistogram, monitorEventLoopDelay} from 'node:perf_hooks';
import {type Aggregator, Counter, Gauge, Registry} from 'prom-client';
import {type Db, poolOf} from '../db/db.ts';
import {packageVersion} from '../package-root.ts';

/** Collected metrics as plain data, for other processes. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** A value, or one for each set of labels. */
type Sample = number | ReadonlyArray<readonly [labels: Record<string, string>, value: number]>;

/** Metrics whose values are read for one collection, in a registry of their own. */
export const createSnapshot = () => {
	const registry = new Registry();
	const readingsOf = (reading: Sample) => (typeof reading === 'number' ? [[{}, reading] as const] : reading);
	const described = (name: string, help: string, reading: Sample) => {
		const [[labels] = [{}]] = readingsOf(reading);
		return {name, help, labelNames: Object.keys(labels), registers: [registry]};
	};
	return {
		registry,
		/** @param aggregator how the values of several processes are merged. */
		gauge: (aggregator: Aggregator, name: string, help: string, reading: Sample): void => {
			const gauge = new Gauge({...described(name, help, reading), aggregator});
			for (const [labels, value] of readingsOf(reading)) {
				gauge.set(labels, value);
			}
		},
		counter: (name: string, help: string, reading: Sample): void => {
			const counter = new Counter(described(name, help, reading));
			for (const [labels, value] of readingsOf(reading)) {
				counter.inc(labels, value);
			}
		},
	};
};

export type Snapshot = ReturnType<typeof createSnapshot>;

const NANO = 1e9;

/** Samples the delay of timers continuously; `stop` ends it. */
export const watchEventLoop = (): {delay: IntervalHistogram; stop(): void} => {
	const delay = monitorEventLoopDelay({resolution: 20});
	delay.enable();
	return {delay, stop: () => delay.disable()};
};

/**
 * Process metrics with the names of prom-client's default ones, for common dashboards. prom-client collects many more and
 * has no rule for several processes.
 */
export const readProcess = ({gauge, counter}: Snapshot, delay: IntervalHistogram): void => {
	const {user, system} = process.cpuUsage();
	const {heapUsed, external} = process.memoryUsage();
	const lag = (name: string, help: string, nanoseconds: number) =>
		gauge('max', name, help, delay.count === 0 ? 0 : nanoseconds / NANO);
	counter('process_cpu_seconds_total', 'CPU time, user and system.', (user + system) / 1e6);
	gauge('sum', 'process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss());
	gauge('min', 'process_start_time_seconds', 'When the process started.', performance.timeOrigin / 1000);
	gauge('sum', 'nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed);
	gauge('sum', 'nodejs_external_memory_bytes', 'Memory of buffers.', external);
	lag('nodejs_eventloop_lag_mean_seconds', 'Mean delay of the event loop since the last scrape.', delay.mean);
	lag('nodejs_eventloop_lag_p99_seconds', '99th percentile of the event loop delay.', delay.percentile(99));
	lag('nodejs_eventloop_lag_max_seconds', 'Maximum event loop delay.', delay.max);
	gauge('max', 'oplink_build_info', 'Version.', [[{version: packageVersion(), node: process.version}, 1]]);
};

/** Connections of the database pool. */
export const readPool = ({gauge}: Snapshot, db: Db): void => {
	const pool = poolOf(db);
	gauge('sum', 'oplink_database_connections', 'Connections of the pool.', [
		[{state: 'used'}, pool.numUsed()],
		[{state: 'free'}, pool.numFree()],
	]);
	gauge('sum', 'oplink_database_connections_max', 'Maximum connections of the pool.', pool.size);
	gauge('sum', 'oplink_database_waiting', 'Statements that wait for a connection.', pool.numPendingAcquires());
};
