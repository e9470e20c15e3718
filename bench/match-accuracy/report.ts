import type {Count} from './causes.ts';
import type {Row} from './measure.ts';

export const percent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)} %`;

/** A Markdown table; the first column is text, the others are figures. */
export const table = (head: string[], rows: string[][]): string =>
	[head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
		.map((cells) => `| ${cells.join(' | ')} |`)
		.join('\n');

const TALLY_HEAD = ['matches', 'right', 'wrong link', 'no click', 'wrong tenant', 'precision', '95 %', 'recall'];

export const tallyTable = (title: string, rows: Row[]): string =>
	table(
		[title, ...TALLY_HEAD],
		rows.map(({name, tally}) => [
			name,
			String(tally.matches),
			String(tally.right),
			String(tally.wrongLink),
			String(tally.withoutClick),
			String(tally.wrongTenant),
			percent(tally.precision, 2),
			tally.interval.map((bound) => (bound * 100).toFixed(2)).join(' to '),
			percent(tally.recall),
		]),
	);

/** The most frequent causes, the rest in one line. */
export const causeTable = (title: string, counts: Count[], most = 12): string => {
	const total = counts.reduce((sum, {count}) => sum + count, 0);
	const rest = counts.slice(most).reduce((sum, {count}) => sum + count, 0);
	const rows = [...counts.slice(0, most), ...(rest === 0 ? [] : [{what: 'other', count: rest}])];
	return table(
		[title, 'count', 'share'],
		rows.map(({what, count}) => [what, String(count), percent(count / total)]),
	);
};

/** Lowest and highest. */
export const range = (shares: number[], digits = 1): string =>
	[Math.min(...shares), Math.max(...shares)].map((share) => (share * 100).toFixed(digits)).join(' to ');
