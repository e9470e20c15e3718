import {type IntervalHistogram, monitorEventLoopDelay} from 'node:perf_hooks';
import type {Db} from '../db/db.ts';
import {packageVersion} from '../package-root.ts';
import {createGauge, gaugesOf, type Metric} from './instruments.ts';

const NANO = 1e9;

const sum = gaugesOf('sum');

/** Samples the delay of timers continuously; `stop` ends it. */
export const watchEventLoop = (): {delay: IntervalHistogram; stop(): void} => {
	const delay = monitorEventLoopDelay({resolution: 20});
	delay.enable();
	return {delay, stop: () => delay.disable()};
};

/** Process metrics with the names of Prometheus' client libraries, so that common dashboards work. */
export const processMetrics = (delay: IntervalHistogram): Metric[] => {
	const lag = (name: string, help: string, read: () => number) =>
		gaugesOf('largest')(name, help, () => (delay.count === 0 ? 0 : read() / NANO));
	return [
		gaugesOf('total')('process_cpu_seconds_total', 'CPU time, user and system.', () => {
			const {user, system} = process.cpuUsage();
			return (user + system) / 1e6;
		}),
		sum('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss()),
		gaugesOf('smallest')(
			'process_start_time_seconds',
			'When the process started.',
			() => performance.timeOrigin / 1000,
		),
		sum('nodejs_heap_size_used_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed),
		sum('nodejs_external_memory_bytes', 'Memory of buffers.', () => process.memoryUsage().external),
		lag('nodejs_eventloop_lag_mean_seconds', 'Mean delay of the event loop since the last scrape.', () => delay.mean),
		lag('nodejs_eventloop_lag_p99_seconds', '99th percentile of the event loop delay.', () => delay.percentile(99)),
		lag('nodejs_eventloop_lag_max_seconds', 'Maximum event loop delay.', () => delay.max),
		createGauge({name: 'oplink_build_info', help: 'Version.', labels: ['version', 'node'], across: 'largest'}, () => [
			{labels: [packageVersion(), process.version], value: 1},
		]),
	];
};

type Pool = {numUsed(): number; numFree(): number; numPendingAcquires(): number; max: number};

/** Connections of the database pool. */
export const poolMetrics = (db: Db): Metric[] => {
	const pool = db.client.pool as Pool;
	return [
		createGauge(
			{name: 'oplink_database_connections', help: 'Connections of the pool.', labels: ['state'], across: 'sum'},
			() => [
				{labels: ['used'], value: pool.numUsed()},
				{labels: ['free'], value: pool.numFree()},
			],
		),
		sum('oplink_database_connections_max', 'Maximum connections of the pool.', () => pool.max),
		sum('oplink_database_waiting', 'Statements that wait for a connection.', () => pool.numPendingAcquires()),
	];
};
