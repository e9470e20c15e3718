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
export const findingsOf = (area: string) => ({
	ok: (check: string, message: string): Finding => ({area, check, status: 'ok', message, next: null}),
	warn: (check: string, message: string, next: string): Finding => ({area, check, status: 'warn', message, next}),
	fail: (check: string, message: string, next: string): Finding => ({area, check, status: 'fail', message, next}),
});

/** The worst severity; `ok` without findings. */
export const worstOf = (findings: readonly Finding[]): Verdict =>
	findings.some(({status}) => status === 'fail')
		? 'fail'
		: findings.some(({status}) => status === 'warn')
			? 'warn'
			: 'ok';
