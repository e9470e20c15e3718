import {type Io, supportsStyles} from './io.ts';
import {type ProgressFigures, progressText} from './progress-text.ts';

/** Progress of an import: `bytes` of its input are done; the input's length may be unknown (null). */
type Progress = {rows: number; failed: number; bytes: number; size: number | null};

const SECONDS_BETWEEN_LINES = 5;
/** An earlier rate would reflect only the start. */
const SECONDS_BEFORE_RATE = 1;

/** The figures after some seconds. The caller reports the end, because the heading and empty lines are not rows. */
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

/** Shows progress until the returned function is called: a bar on a terminal, else an occasional line. */
export const startProgress = async (io: Io, progress: () => Progress): Promise<() => void> => {
	const began = performance.now();
	const figures = () => figuresOf(progress(), (performance.now() - began) / 1000);
	if (!supportsStyles(io.stderr, io.env)) {
		return io.every(SECONDS_BETWEEN_LINES, () => io.stderr.write(`${progressText(figures())}\n`));
	}

	const {showProgressBar} = await import('./progress-bar.tsx');
	return showProgressBar(io, figures);
};
