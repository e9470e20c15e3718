/**
 * The three instruments of Prometheus and their text format (0.0.4), as much of it as this service needs. A library for it
 * would bring a global registry, which tests that run several services in one process could not share.
 */

/** A metric that can write itself. */
export type Metric = {name: string; lines(): string[]};

const escapeLabel = (value: string): string => value.replace(/[\\"\n]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`));

const labelText = (names: readonly string[], values: readonly string[]): string =>
	names.length === 0
		? ''
		: `{${names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')}}`;

const head = (name: string, help: string, type: string): string[] => [
	`# HELP ${name} ${help}`,
	`# TYPE ${name} ${type}`,
];

/** No label value of ours holds it. */
const SEPARATOR = '\0';

type Described = {name: string; help: string; labels?: readonly string[]};

/** What only grows. Label values must come from a closed set: each combination is kept for good. */
export const createCounter = ({name, help, labels = []}: Described) => {
	const counts = new Map<string, number>();
	return {
		/** Adds 1 for these values of the labels, in their order. */
		add: (...values: string[]): void => {
			const key = values.join(SEPARATOR);
			counts.set(key, (counts.get(key) ?? 0) + 1);
		},
		name,
		lines: () => [
			...head(name, help, 'counter'),
			...(labels.length === 0 && counts.size === 0 ? [`${name} 0`] : []),
			...[...counts].map(([key, count]) => `${name}${labelText(labels, key.split(SEPARATOR))} ${count}`),
		],
	};
};

export type Reading = {labels?: readonly string[]; value: number};

/** What goes up and down: read when it is asked for. Null: nothing to tell. */
export const createGauge = (
	{name, help, labels = []}: Described,
	read: () => number | readonly Reading[] | null,
	type: 'gauge' | 'counter' = 'gauge',
): Metric => ({
	name,
	lines: () => {
		const found = read();
		const readings = found === null ? [] : typeof found === 'number' ? [{value: found}] : found;
		return [
			...head(name, help, type),
			...readings.map((reading) => `${name}${labelText(labels, reading.labels ?? [])} ${reading.value}`),
		];
	},
});

type Distribution = {buckets: number[]; sum: number; count: number};

/** How long things take. @param buckets upper bounds, rising. */
export const createHistogram = ({name, help, labels = [], buckets}: Described & {buckets: readonly number[]}) => {
	const known = new Map<string, Distribution>();
	const linesOf = ([key, one]: [string, Distribution]): string[] => {
		const values = key.split(SEPARATOR);
		let below = 0;
		const bucketLines = buckets.map((bound, index) => {
			below += one.buckets[index] ?? 0;
			return `${name}_bucket${labelText([...labels, 'le'], [...values.slice(0, labels.length), String(bound)])} ${below}`;
		});
		return [
			...bucketLines,
			`${name}_bucket${labelText([...labels, 'le'], [...values.slice(0, labels.length), '+Inf'])} ${one.count}`,
			`${name}_sum${labelText(labels, values)} ${one.sum}`,
			`${name}_count${labelText(labels, values)} ${one.count}`,
		];
	};
	return {
		observe: (value: number, ...values: string[]): void => {
			const key = values.join(SEPARATOR);
			let one = known.get(key);
			if (one === undefined) {
				one = {buckets: buckets.map(() => 0), sum: 0, count: 0};
				known.set(key, one);
			}

			const index = buckets.findIndex((bound) => value <= bound);
			if (index !== -1) {
				one.buckets[index] = (one.buckets[index] ?? 0) + 1;
			}

			one.sum += value;
			one.count += 1;
		},
		name,
		lines: () => [...head(name, help, 'histogram'), ...[...known].flatMap(linesOf)],
	};
};

/** The text that Prometheus reads. */
export const exposition = (metrics: readonly Metric[]): string =>
	`${metrics.flatMap((metric) => metric.lines()).join('\n')}\n`;
