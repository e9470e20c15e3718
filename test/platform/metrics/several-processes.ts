import test from 'ava';
import {AggregatorRegistry, Histogram, Registry} from 'prom-client';
import {createFigureCollector, mergeFigures} from '../../../src/operations/metrics/gather-figures.ts';
import {createSnapshot, type Figures} from '../../../src/platform/metrics/snapshot.ts';

type Snapshot = ReturnType<typeof createSnapshot>;

/** The figures of a process that has taken them so. */
const taken = (take: (snapshot: Snapshot) => void): Promise<Figures> => {
	const snapshot = createSnapshot();
	take(snapshot);
	return snapshot.registry.getMetricsAsJSON();
};

const gauge = (aggregator: 'sum' | 'max' | 'min', value: number, name = 'a') =>
	taken((snapshot) => snapshot.gauge(aggregator, name, 'A.', value));

const total = (value: number) => taken((snapshot) => snapshot.counter('a', 'A.', value));

const counter = (counts: Record<string, number>) => {
	const samples = Object.entries(counts).map(([of, count]): [{of: string}, number] => [{of}, count]);
	return taken((snapshot) => snapshot.counter('c', 'C.', samples));
};

const histogram = (of: string, ...values: number[]): Promise<Figures> => {
	const registry = new Registry();
	const made = new Histogram({name: 'h', help: 'H.', labelNames: ['of'], buckets: [1, 5], registers: [registry]});
	for (const value of values) {
		made.observe({of}, value);
	}

	return registry.getMetricsAsJSON();
};

/** The samples of figures, as they are exposed. */
const linesOf = async (figures: Figures): Promise<string[]> =>
	(await AggregatorRegistry.aggregate([figures]).metrics())
		.split('\n')
		.filter((line) => line !== '' && !line.startsWith('#'));

const merged: Array<[title: string, processes: Array<Promise<Figures>>, expected: string[]]> = [
	['a total is the sum', [total(3), total(4)], ['a 7']],
	['what each has of its own is the sum', [gauge('sum', 3), gauge('sum', 4), gauge('sum', 5)], ['a 12']],
	['the largest counts', [gauge('max', 3), gauge('max', 4)], ['a 4']],
	['the smallest counts', [gauge('min', 1), gauge('min', 0)], ['a 0']],
	[
		'counters add up by labels',
		[counter({x: 2, y: 1}), counter({z: 1, x: 1})],
		['c{of="x"} 3', 'c{of="y"} 1', 'c{of="z"} 1'],
	],
	[
		'histograms add up by labels and buckets',
		[histogram('x', 0.5, 2), histogram('x', 2, 8)],
		[
			'h_bucket{le="1",of="x"} 1',
			'h_bucket{le="5",of="x"} 3',
			'h_bucket{le="+Inf",of="x"} 4',
			'h_sum{of="x"} 12.5',
			'h_count{of="x"} 4',
		],
	],
	['a figure that one process lacks is that of the others', [Promise.resolve([]), gauge('min', 2)], ['a 2']],
];

for (const [title, processes, expected] of merged) {
	test(`of several processes ${title}`, async (t) => {
		t.deepEqual(await linesOf(await mergeFigures(await Promise.all(processes))), expected);
	});
}

test('counters and times of last actions outlive their process, other gauges do not', async (t) => {
	const gathering = createFigureCollector({workers: 1, waitMs: 60_000});
	const member = gathering.join(() => {});
	const figures = await Promise.all([
		counter({x: 1}),
		histogram('x', 2),
		gauge('max', 4, 'last_timestamp_seconds'),
		gauge('sum', 1, 'sum'),
		gauge('max', 1, 'max'),
		gauge('min', 1, 'min'),
	]);
	member.report(null, figures.flat());
	member.left();
	const names = (await gathering.gather(true)).map(({name}) => name);
	t.deepEqual(names, ['c', 'h', 'last_timestamp_seconds', 'oplink_workers', 'oplink_workers_answered']);
});

const answered = (count: number) => ['oplink_workers 2', `oplink_workers_answered ${count}`];

/** Those of a worker: a counter and a gauge. */
const figuresOf = async (counts: Record<string, number>, sum: number): Promise<Figures> =>
	(await Promise.all([counter(counts), gauge('sum', sum)])).flat();

test('a worker’s counters remain after its end, even during a collection', async (t) => {
	const gathering = createFigureCollector({workers: 2, waitMs: 60_000});
	const first = gathering.join(async (round) => first.report(round, await figuresOf({x: 1}, 5)));
	const second = gathering.join(async (round) => second.report(round, await figuresOf({x: 2}, 7)));
	t.deepEqual(await linesOf(await gathering.gather(true)), ['c{of="x"} 3', 'a 12', ...answered(2)]);
	const third = gathering.join(() => third.left());
	const during = gathering.gather(true);
	second.left();
	t.deepEqual(await linesOf(await during), ['c{of="x"} 3', 'a 5', ...answered(1)]);
	first.report(null, await figuresOf({x: 3}, 5));
	first.left();
	t.deepEqual(await linesOf(await gathering.gather(true)), ['c{of="x"} 5', ...answered(0)]);
});

test('the last counters of an unresponsive worker remain', async (t) => {
	const gathering = createFigureCollector({workers: 2, waitMs: 1});
	const quick = gathering.join(async (round) => quick.report(round, await figuresOf({x: 1}, 5)));
	const silent = gathering.join(() => {});
	silent.report(null, await figuresOf({x: 2}, 7));
	t.deepEqual(await linesOf(await gathering.gather(true)), ['c{of="x"} 3', 'a 5', ...answered(1)]);
});

test('a sum of fractions does not go back by its last digit when a worker ends', async (t) => {
	const gathering = createFigureCollector({workers: 3, waitMs: 60_000});
	const join = (value: number) => {
		const member = gathering.join(async (round) => member.report(round, await total(value)));
		return member;
	};
	const [first] = [0.1, 0.2, 0.3].map(join);
	t.is((await linesOf(await gathering.gather(true)))[0], 'a 0.6000000000000001');
	first?.left();
	t.is((await linesOf(await gathering.gather(true)))[0], 'a 0.6000000000000001');
});
