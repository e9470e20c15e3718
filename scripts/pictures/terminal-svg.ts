import type {Cell} from './terminal-screen.ts';

const WIDTH = 8.4;
const HEIGHT = 16.5;
const MARGIN = 14;
const BAR = 28;

/** Colours of a light and of a dark page, each readable on the background of the picture. */
const STYLE = `
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.back{fill:#f6f8fa;stroke:#d1d9e0}.title{fill:#59636e}.bold{font-weight:bold}.dim{fill:#59636e}
.red{fill:#b91c1c}.green{fill:#11692b}.yellow{fill:#8a5a00}.blue{fill:#0550ae}.magenta{fill:#7d3cb0}.cyan{fill:#0b6b78}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.back{fill:#0d1117;stroke:#3d444d}.title,.dim{fill:#9198a1}
.red{fill:#ff7b72}.green{fill:#56d364}.yellow{fill:#e3b341}.blue{fill:#79c0ff}.magenta{fill:#d2a8ff}.cyan{fill:#56d4dd}
}`;

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

type Run = {text: string; style: string; column: number; width: number};

/** Neighbours that look alike, without what is blank. */
const runsOf = (line: readonly Cell[]): Run[] => {
	const runs: Run[] = [];
	line.forEach(({text, style}, column) => {
		const last = runs.at(-1);
		if (last !== undefined && last.style === style) {
			last.text += text;
			last.width += 1;
		} else {
			runs.push({text, style, column, width: 1});
		}
	});
	return runs.flatMap((run) => {
		const text = run.text.trimEnd();
		const lead = text.length - text.trimStart().length;
		const width = run.width - (run.text.length - text.length) - lead;
		return text === '' ? [] : [{...run, text: text.trimStart(), column: run.column + lead, width}];
	});
};

const round = (length: number): number => Math.round(length * 10) / 10;

/** A picture of a terminal, its text as text, in the colours that the reader's page prefers. */
export const terminalSvg = (title: string, cells: readonly Cell[][]): string => {
	const used = cells.length - [...cells].reverse().findIndex((line) => line.some(({text}) => text.trim() !== ''));
	const columns = cells[0]?.length ?? 0;
	const width = Math.ceil(columns * WIDTH + 2 * MARGIN);
	const height = Math.ceil(BAR + used * HEIGHT + MARGIN);
	const lines = cells.slice(0, used).flatMap((line, row) =>
		runsOf(line).map(({text, style, column, width: cellsWide}) => {
			const look = style === '' ? '' : ` class="${style}"`;
			const y = round(BAR + (row + 1) * HEIGHT - 4);
			return `<text x="${round(MARGIN + column * WIDTH)}" y="${y}" textLength="${round(cellsWide * WIDTH)}" lengthAdjust="spacingAndGlyphs"${look}>${escaped(text)}</text>`;
		}),
	);
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
		`<title>${escaped(title)}</title><style>${STYLE}</style>`,
		`<rect class="back" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
		`<text class="title" x="${MARGIN}" y="20">$ ${escaped(title)}</text>`,
		...lines,
		'</svg>\n',
	].join('\n');
};
