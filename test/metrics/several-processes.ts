import test from 'ava';
import {createGathering} from '../../src/metrics/gather-figures.ts';
import {createCounter, createGauge, createHistogram, exposition, type Figure} from '../../src/metrics/instruments.ts';
import {mergeFigures, outliving} from '../../src/metrics/merge-figures.ts';

const gauge = (across: Parameters<typeof createGauge>[0]['across'], value: number): Figure =>
	createGauge({name: 'a', help: 'A.', across}, () => value).read();

const counter = (...values: string[]): Figure => {
	const made = createCounter({name: 'c', help: 'C.', labels: ['of']});
	for (const value of values) {
		made.add(value);
	}

	return made.read();
};

const histogram = (label: string, ...values: number[]): Figure => {
	const made = createHistogram({name: 'h', help: 'H.', labels: ['of'], buckets: [1, 5]});
	for (const value of values) {
		made.observe(value, label);
	}

	return made.read();
};

const samples = (...processes: Figure[][]): string[] =>
	exposition(mergeFigures(processes))
		.split('\n')
		.filter((line) => line !== '' && !line.startsWith('#'));

const merged: Array<[title: string, processes: Figure[][], expected: string[]]> = [
	['a total is the sum', [[gauge('total', 3)], [gauge('total', 4)]], ['a 7']],
	['what each has of its own is the sum', [[gauge('sum', 3)], [gauge('sum', 4)], [gauge('sum', 5)]], ['a 12']],
	['the newest counts', [[gauge('newest', 4)], [gauge('newest', 3)]], ['a 4']],
	['the largest counts', [[gauge('largest', 3)], [gauge('largest', 4)]], ['a 4']],
	['the smallest counts', [[gauge('smallest', 1)], [gauge('smallest', 0)]], ['a 0']],
	[
		'counters add up by labels',
		[[counter('x', 'x', 'y')], [counter('z', 'x')]],
		['c{of="x"} 3', 'c{of="y"} 1', 'c{of="z"} 1'],
	],
	[
		'histograms add up by labels and buckets',
		[[histogram('x', 0.5, 2)], [histogram('x', 2, 8)]],
		[
			'h_bucket{of="x",le="1"} 1',
			'h_bucket{of="x",le="5"} 3',
			'h_bucket{of="x",le="+Inf"} 4',
			'h_sum{of="x"} 12.5',
			'h_count{of="x"} 4',
		],
	],
	['a figure that one process lacks is that of the others', [[], [gauge('smallest', 2)]], ['a 2']],
];

for (const [title, processes, expected] of merged) {
	test(`of several processes ${title}`, (t) => {
		t.deepEqual(samples(...processes), expected);
	});
}

test('counters and newest times outlive their process, gauges do not', (t) => {
	const figures = (['total', 'sum', 'newest', 'largest', 'smallest'] as const).map((across) => gauge(across, 1));
	t.deepEqual(
		outliving(figures).map(({across}) => across),
		['total', 'newest'],
	);
});

const linesOf = (figures: Figure[]): string[] =>
	figures.flatMap(({series}) => series.map(([series, value]) => `${series} ${value}`));

test('a worker’s counters remain after its end, even during a collection', async (t) => {
	const gathering = createGathering({workers: 2, waitMs: 60_000});
	const first = gathering.join((round) => first.report(round, [counter('x'), gauge('sum', 5)]));
	const second = gathering.join((round) => second.report(round, [counter('x', 'x'), gauge('sum', 7)]));
	t.deepEqual(linesOf(await gathering.gather(true)), [
		'c{of="x"} 3',
		'a 12',
		'oplink_workers 2',
		'oplink_workers_answered 2',
	]);
	const third = gathering.join(() => third.left());
	const during = gathering.gather(true);
	second.left();
	t.deepEqual(linesOf(await during), ['c{of="x"} 3', 'a 5', 'oplink_workers 2', 'oplink_workers_answered 1']);
	first.report(null, [counter('x', 'x', 'x'), gauge('sum', 5)]);
	first.left();
	t.deepEqual(linesOf(await gathering.gather(true)), ['c{of="x"} 5', 'oplink_workers 2', 'oplink_workers_answered 0']);
});

test('the last counters of an unresponsive worker remain', async (t) => {
	const gathering = createGathering({workers: 2, waitMs: 1});
	const quick = gathering.join((round) => quick.report(round, [counter('x'), gauge('sum', 5)]));
	const silent = gathering.join(() => {});
	silent.report(null, [counter('x', 'x'), gauge('sum', 7)]);
	t.deepEqual(linesOf(await gathering.gather(true)), [
		'c{of="x"} 3',
		'a 5',
		'oplink_workers 2',
		'oplink_workers_answered 1',
	]);
});

test('a sum of fractions does not go back by its last digit when a worker ends', async (t) => {
	const gathering = createGathering({workers: 3, waitMs: 60_000});
	const join = (value: number) => {
		const member = gathering.join((round) => member.report(round, [gauge('total', value)]));
		return member;
	};
	const [first] = [0.1, 0.2, 0.3].map(join);
	t.is(linesOf(await gathering.gather(true))[0], 'a 0.6000000000000001');
	first?.left();
	t.is(linesOf(await gathering.gather(true))[0], 'a 0.6000000000000001');
});
