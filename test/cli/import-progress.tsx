import {stripVTControlCharacters} from 'node:util';
import test from 'ava';
import {render} from 'ink-testing-library';
import {figuresOf} from '../../src/cli/import/import-progress.ts';
import {ProgressBar} from '../../src/cli/terminal/progress-bar.tsx';
import {progressText} from '../../src/cli/terminal/progress-text.ts';

const half = {rows: 5000, failed: 2, bytes: 50, size: 100};

test('rate and remaining time are computed after a second', (t) => {
	t.is(progressText(figuresOf(half, 0.5)), '5000 rows, 2 failed, 50 %');
	t.is(progressText(figuresOf(half, 5)), '5000 rows, 2 failed, 50 %, 1000 rows/s, 5s left');
	t.is(progressText(figuresOf({...half, bytes: 1}, 60)), '5000 rows, 2 failed, 1 %, 83 rows/s, 1h left');
	t.is(progressText(figuresOf({...half, bytes: 100}, 10)), '5000 rows, 2 failed, 100 %, 500 rows/s');
});

test('without a known length there is a rate and no time left', (t) => {
	t.is(progressText(figuresOf({...half, size: null}, 5)), '5000 rows, 2 failed, 1000 rows/s');
});

test('the bar gives way, so that it stays on one line', (t) => {
	const figures = figuresOf({rows: 1_000_000, failed: 1000, bytes: 50, size: 100}, 100_000);
	for (const [columns, cells] of [
		[120, 30],
		[80, 27],
		[40, 0],
	] as const) {
		const {lastFrame} = render(<ProgressBar figures={figures} columns={columns} />);
		const [line = ''] = stripVTControlCharacters(lastFrame() ?? '').split('\n');
		t.is((line.match(/[█░]/g) ?? []).length, cells);
		t.true(columns === 40 || line.length < columns);
	}
});
