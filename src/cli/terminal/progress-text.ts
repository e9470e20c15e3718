import {counted} from '../../platform/text.ts';
import {durationText} from './duration.ts';

/** The shown progress: `fraction` of the input and, once known, rows a second and the seconds left. */
export type ProgressFigures = {
	rows: number;
	failed: number;
	fraction: number | null;
	perSecond?: number;
	secondsLeft?: number;
};

/** `5,210 rows, 2 failed, 52 %, 1042 rows/s, 5s left`. */
export const progressText = ({rows, failed, fraction, perSecond, secondsLeft}: ProgressFigures): string =>
	[
		counted(rows, 'row'),
		...(failed > 0 ? [`${failed} failed`] : []),
		...(fraction === null ? [] : [`${Math.floor(fraction * 100)} %`]),
		...(perSecond === undefined ? [] : [`${Math.round(perSecond)} rows/s`]),
		...(secondsLeft === undefined ? [] : [`${durationText(Math.ceil(secondsLeft))} left`]),
	].join(', ');
