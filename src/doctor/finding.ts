/** How a thing is: as it should be, worth a look, or broken. */
export type Verdict = 'ok' | 'warn' | 'fail';

/** What a check found. */
export type Finding = {
	/** What it is about, in words, such as `Database` or a host name. */
	area: string;
	/** Name of the check, which stays the same from version to version, such as `database.version`. */
	check: string;
	status: Verdict;
	message: string;
	/** What to do about it; null where all is well. */
	next: string | null;
};

/** Findings of one area. */
export const findingsOf = (area: string) => ({
	ok: (check: string, message: string): Finding => ({area, check, status: 'ok', message, next: null}),
	warn: (check: string, message: string, next: string): Finding => ({area, check, status: 'warn', message, next}),
	fail: (check: string, message: string, next: string): Finding => ({area, check, status: 'fail', message, next}),
});

/** The worst of them; `ok` where there are none. */
export const worstOf = (findings: readonly Finding[]): Verdict =>
	findings.some(({status}) => status === 'fail')
		? 'fail'
		: findings.some(({status}) => status === 'warn')
			? 'warn'
			: 'ok';
