import {type Io, isLively} from '../terminal/io.ts';
import {type ProgressFigures, progressText} from '../terminal/progress-text.ts';

/** How far an import is: `bytes` of its input are done; the length of the input is null where it is not known. */
export type Progress = {rows: number; failed: number; bytes: number; size: number | null};

const SECONDS_BETWEEN_LINES = 5;
/** Before that, a rate would be that of the start. */
const SECONDS_BEFORE_RATE = 1;

/** The figures after some seconds. Heading and empty lines are no rows, so the end is told by the caller. */
export const figuresOf = ({rows, failed, bytes, size}: Progress, seconds: number): ProgressFigures => {
	const fraction = size === null || size === 0 ? null : Math.min(1, bytes / size);
	const figures = {rows, failed, fraction};
	if (seconds < SECONDS_BEFORE_RATE || rows === 0) {
		return figures;
	}

	const timed = {...figures, perSecond: rows / seconds};
	return fraction === null || fraction === 0 || fraction === 1
		? timed
		: {...timed, secondsLeft: (seconds * (1 - fraction)) / fraction};
};

/** Shows progress until the function it gives back is called: a bar on a terminal, else a line now and then. */
export const startProgress = async (io: Io, progress: () => Progress): Promise<() => void> => {
	const began = performance.now();
	const figures = () => figuresOf(progress(), (performance.now() - began) / 1000);
	if (!isLively(io.stderr, io.env)) {
		return io.every(SECONDS_BETWEEN_LINES, () => io.stderr.write(`${progressText(figures())}\n`));
	}

	const {showProgressBar} = await import('../terminal/progress-bar.tsx');
	return showProgressBar(io, figures);
};
