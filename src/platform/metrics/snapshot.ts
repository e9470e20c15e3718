import {type Aggregator, Counter, Gauge, Registry} from 'prom-client';

/** Collected metrics as plain data, for other processes. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** A value, or one for each set of labels. */
type Reading = number | ReadonlyArray<readonly [labels: Record<string, string>, value: number]>;

/** Metrics whose values are read for one collection, in a registry of their own. */
export const createSnapshot = () => {
	const registry = new Registry();
	const readingsOf = (reading: Reading) => (typeof reading === 'number' ? [[{}, reading] as const] : reading);
	const described = (name: string, help: string, reading: Reading) => {
		const [[labels] = [{}]] = readingsOf(reading);
		return {name, help, labelNames: Object.keys(labels), registers: [registry]};
	};
	return {
		registry,
		/** @param aggregator how the values of several processes are merged. */
		gauge: (aggregator: Aggregator, name: string, help: string, reading: Reading): void => {
			const gauge = new Gauge({...described(name, help, reading), aggregator});
			for (const [labels, value] of readingsOf(reading)) {
				gauge.set(labels, value);
			}
		},
		counter: (name: string, help: string, reading: Reading): void => {
			const counter = new Counter(described(name, help, reading));
			for (const [labels, value] of readingsOf(reading)) {
				counter.inc(labels, value);
			}
		},
	};
};

export type Snapshot = ReturnType<typeof createSnapshot>;
