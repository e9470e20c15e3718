/**
 * The three instruments of Prometheus and their text format (0.0.4), as much of it as this service needs. A library for it
 * would bring a global registry, which tests that run several services in one process could not share.
 */

const plus = (one: number, other: number): number => one + other;

/**
 * How the figures of several processes become one: a property of each instrument. What outlives its process still counts
 * when that has ended.
 */
export const ACROSS = {
	/** What only grows. */
	total: {merge: plus, outlives: true},
	/** What each process has of its own. */
	sum: {merge: plus, outlives: false},
	/** When something was last done, by whichever process. */
	newest: {merge: Math.max, outlives: true},
	largest: {merge: Math.max, outlives: false},
	smallest: {merge: Math.min, outlives: false},
} as const;

type Across = keyof typeof ACROSS;

/** What an instrument tells, as plain data for other processes. A series is the name with its labels, and a value. */
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

export type Reading = {labels?: readonly string[]; value: number};

/** What something else keeps: read when it is asked for. A total is told as a counter. */
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

type Distribution = {buckets: number[]; sum: number; count: number};

/** How long things take. @param buckets upper bounds, rising. */
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

/** The text that Prometheus reads. */
export const exposition = (figures: readonly Figure[]): string =>
	`${figures
		.flatMap(({name, help, type, series}) => [
			`# HELP ${name} ${help}`,
			`# TYPE ${name} ${type}`,
			...series.map(([one, value]) => `${one} ${value}`),
		])
		.join('\n')}\n`;
