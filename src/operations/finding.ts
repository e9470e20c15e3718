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

/** Severity: fine, suspicious or broken. */
export type Verdict = 'ok' | 'warn' | 'fail';

/** The result of a check. */
export type Finding = {
	/** The subject in words, such as `Database` or a host name. */
	area: string;
	/** Name of the check, stable across versions, such as `database.version`. */
	check: string;
	status: Verdict;
	message: string;
	/** The remedy; null if none is needed. */
	next: string | null;
};

/** Findings of one area. */
export const findingsOf = (area: string) => {
	const ok = (check: string, message: string): Finding => ({area, check, status: 'ok', message, next: null});
	const warn = (check: string, message: string, next: string): Finding => ({
		area,
		check,
		status: 'warn',
		message,
		next,
	});
	return {
		ok,
		warn,
		fail: (check: string, message: string, next: string): Finding => ({area, check, status: 'fail', message, next}),
		warnIf: (isBad: boolean, check: string, message: string, next: string): Finding =>
			isBad ? warn(check, message, next) : ok(check, message),
	};
};

/** The findings of an area without those whose condition is false. */
export const present = (findings: ReadonlyArray<Finding | false>): Finding[] =>
	findings.filter((finding) => finding !== false);

/** The worst severity; `ok` without findings. */
export const worstOf = (findings: readonly Finding[]): Verdict =>
	findings.some(({status}) => status === 'fail')
		? 'fail'
		: findings.some(({status}) => status === 'warn')
			? 'warn'
			: 'ok';
