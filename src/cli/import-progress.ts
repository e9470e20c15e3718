import {type ImportState, rowsDone} from './import-links.ts';
import {type Io, isLively} from './io.ts';

/** What the progress of an import shows: `fraction` is null where the length of the input is not known. */
export type ProgressFigures = {rows: number; failed: number; fraction: number | null};

const SECONDS_BETWEEN_LINES = 5;

/** The figures of a state; the heading and empty lines are no rows, so the end is told by the caller. */
export const figuresOf = ({summary, bytes}: ImportState, size: number | null): ProgressFigures => ({
	rows: rowsDone(summary),
	failed: summary.failed,
	fraction: size === null || size === 0 ? null : Math.min(1, bytes / size),
});

/** `5210 rows, 2 failed, 52 %`. */
export const progressText = ({rows, failed, fraction}: ProgressFigures): string =>
	[
		`${rows} rows`,
		...(failed > 0 ? [`${failed} failed`] : []),
		...(fraction === null ? [] : [`${Math.floor(fraction * 100)} %`]),
	].join(', ');

/** Shows progress until the function it gives back is called: a bar on a terminal, else a line now and then. */
export const startProgress = async (io: Io, figures: () => ProgressFigures): Promise<() => void> => {
	if (!isLively(io.stderr, io.env)) {
		return io.every(SECONDS_BETWEEN_LINES, () => io.stderr.write(`${progressText(figures())}\n`));
	}

	const {showProgressBar} = await import('./progress-bar.tsx');
	return showProgressBar(io, figures);
};
