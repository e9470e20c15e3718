/**
 * The three instruments of Prometheus in its text format (0.0.4), limited to this service's needs. A library would
 * bring a global registry, which tests with several services in one process could not share.
 */

const plus = (one: number, other: number): number => one + other;

/** How figures of several processes are merged: a property of each instrument. Some outlive their process. */
export const ACROSS = {
	/** Counters. */
	total: {merge: plus, outlives: true},
	/** Gauges per process. */
	sum: {merge: plus, outlives: false},
	/** Times of last actions, by any process. */
	newest: {merge: Math.max, outlives: true},
	largest: {merge: Math.max, outlives: false},
	smallest: {merge: Math.min, outlives: false},
} as const;

type Across = keyof typeof ACROSS;

/**
 * The figures of an instrument as plain data for other processes. A series is the name with its labels, and a value.
 */
export type Figure = {
	name: string;
	help: string;
	type: 'counter' | 'gauge' | 'histogram';
	across: Across;
	series: Array<[series: string, value: number]>;
};

export type Metric = {read(): Figure};

const escapeLabel = (value: string): string => value.replace(/[\\"\n]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`));

const labelText = (names: readonly string[], values: readonly string[]): string =>
	names.length === 0
		? ''
		: `{${names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')}}`;

/** Occurs in none of our label values. */
const SEPARATOR = '\0';

type Described = {name: string; help: string; labels?: readonly string[]};

/** A counter. Label values must come from a closed set, because each combination is kept forever. */
export const createCounter = ({name, help, labels = []}: Described) => {
	const counts = new Map<string, number>();
	return {
		/** Adds 1 for these label values, in the labels' order. */
		add: (...values: string[]): void => {
			const key = values.join(SEPARATOR);
			counts.set(key, (counts.get(key) ?? 0) + 1);
		},
		read: (): Figure => ({
			name,
			help,
			type: 'counter',
			across: 'total',
			series: [
				...(labels.length === 0 && counts.size === 0 ? [[name, 0] as [string, number]] : []),
				...[...counts].map(([key, count]): [string, number] => [
					`${name}${labelText(labels, key.split(SEPARATOR))}`,
					count,
				]),
			],
		}),
	};
};

type Reading = {labels?: readonly string[]; value: number};

/** A value read at collection time. A total is exposed as a counter. */
export const createGauge = (
	{name, help, labels = [], across}: Described & {across: Across},
	read: () => number | readonly Reading[],
): Metric => ({
	read: () => {
		const found = read();
		const readings = typeof found === 'number' ? [{value: found}] : found;
		return {
			name,
			help,
			type: across === 'total' ? 'counter' : 'gauge',
			across,
			series: readings.map((reading: Reading) => [`${name}${labelText(labels, reading.labels ?? [])}`, reading.value]),
		};
	},
});

/** Gauges without labels that are merged alike. */
export const gaugesOf = (across: Across) => (name: string, help: string, read: () => number) =>
	createGauge({name, help, across}, read);

type Distribution = {buckets: number[]; sum: number; count: number};

/** A histogram of durations. @param buckets upper bounds, ascending. */
export const createHistogram = ({name, help, labels = [], buckets}: Described & {buckets: readonly number[]}) => {
	const known = new Map<string, Distribution>();
	const seriesOf = ([key, one]: [string, Distribution]): Figure['series'] => {
		const text = labelText(labels, key.split(SEPARATOR));
		const beforeBound = `${name}_bucket${text === '' ? '{' : `${text.slice(0, -1)},`}le="`;
		let below = 0;
		return [
			...buckets.map((bound, index): [string, number] => {
				below += one.buckets[index] ?? 0;
				return [`${beforeBound}${bound}"}`, below];
			}),
			[`${beforeBound}+Inf"}`, one.count],
			[`${name}_sum${text}`, one.sum],
			[`${name}_count${text}`, one.count],
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
		read: (): Figure => ({name, help, type: 'histogram', across: 'total', series: [...known].flatMap(seriesOf)}),
	};
};

/** The text format of Prometheus. */
export const exposition = (figures: readonly Figure[]): string =>
	`${figures
		.flatMap(({name, help, type, series}) => [
			`# HELP ${name} ${help}`,
			`# TYPE ${name} ${type}`,
			...series.map(([one, value]) => `${one} ${value}`),
		])
		.join('\n')}\n`;
