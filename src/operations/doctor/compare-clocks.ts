import type {Finding, findingsOf} from './finding.ts';

/** Tolerated difference in seconds, before it affects rates, windows and expiries. HTTP dates have no fractions. */
const TOLERANCE = 5;

/** Another clock's time, and those of ours before it was asked and after it answered. */
export type ClockReading = {read: Date; asked: Date; answered: Date};

/**
 * Compares another clock with ours. The time that an answer takes does not count as a difference.
 * @param owner the owner of our clock, such as `this machine`.
 */
export const compareClocks = (
	{ok, warn}: ReturnType<typeof findingsOf>,
	check: string,
	{read, asked, answered}: ClockReading,
	owner: string,
): Finding => {
	const nearest = Math.min(Math.max(read.getTime(), asked.getTime()), answered.getTime());
	const seconds = Math.round((read.getTime() - nearest) / 1000);
	return Math.abs(seconds) <= TOLERANCE
		? ok(check, `its clock agrees with that of ${owner}`)
		: warn(
				check,
				`its clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} that of ${owner}`,
				'Synchronize both clocks by NTP',
			);
};
