import {DAY_MS, HOUR_MS} from '../../../platform/clock.ts';
import type {Range} from './stats-bounds.ts';

/** The spans of rollups, all in UTC. */
type Span = 'hour' | 'day' | 'month';

/** The rollups that cover the middle of a range, in order and without gaps. The rows of both ends are counted. */
export type Cover = Range & {pieces: Array<Range & {span: Span}>};

const QUARTER_MS = HOUR_MS / 4;

/**
 * Since then days of all time zones begin and end on a quarter of an hour. (St. John's changed its clocks at 00:01
 * until 2011.) Clicks are younger; older events reported by apps are counted row by row.
 */
const QUARTERS_SINCE = Date.UTC(2016, 0, 1);

/** The start of the span (UTC) that a time is in. */
export const floorTo = (span: Span, ms: number): number => {
	if (span === 'month') {
		const at = new Date(ms);
		return Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
	}

	const length = span === 'day' ? DAY_MS : HOUR_MS;
	return Math.floor(ms / length) * length;
};

const ceilTo = (span: Span, ms: number): number => {
	const floor = floorTo(span, ms);
	if (floor === ms) {
		return ms;
	}

	return span === 'month' ? floorTo(span, floor + 31 * DAY_MS) : floor + (span === 'day' ? DAY_MS : HOUR_MS);
};

/** The days (UTC) that are partly in a range: at most two. */
export const partialDays = ({from, to}: Range): Date[] => {
	const ends = [from, to].map((end) => end.getTime());
	return ends.filter((ms) => ms % DAY_MS !== 0).map((ms) => new Date(floorTo('day', ms)));
};

const cut = (from: number, to: number, span: Span, isKept: (ms: number) => boolean): Cover['pieces'] => {
	const [start, end] = [ceilTo(span, from), floorTo(span, to)];
	if (span === 'hour') {
		return start < end && isKept(floorTo('day', start)) ? [{span, from: new Date(start), to: new Date(end)}] : [];
	}

	if (start < end) {
		const finer = span === 'month' ? 'day' : 'hour';
		return [
			...cut(from, start, finer, isKept),
			{span, from: new Date(start), to: new Date(end)},
			...cut(end, to, finer, isKept),
		];
	}

	// Two partial days are checked one by one.
	return span === 'day' && start === end
		? [...cut(from, start, 'hour', isKept), ...cut(start, to, 'hour', isKept)]
		: cut(from, to, span === 'month' ? 'day' : 'hour', isKept);
};

/** The spans of breakdowns for a range: whole months, whole days, and hours of those days that have them. */
export const coverBreakdowns = ({from, to}: Range, daysWithHours: Date[]): Cover => {
	const kept = new Set(daysWithHours.map((day) => day.getTime()));
	const pieces = cut(from.getTime(), to.getTime(), 'month', (day) => kept.has(day));
	return {from: pieces[0]?.from ?? from, to: pieces.at(-1)?.to ?? from, pieces};
};

/** The whole quarters of an hour in a range. */
export const coverQuarters = ({from, to}: Range): Range => {
	const start = Math.ceil(Math.max(from.getTime(), QUARTERS_SINCE) / QUARTER_MS) * QUARTER_MS;
	const end = Math.floor(to.getTime() / QUARTER_MS) * QUARTER_MS;
	return start < end ? {from: new Date(start), to: new Date(end)} : {from, to: from};
};
