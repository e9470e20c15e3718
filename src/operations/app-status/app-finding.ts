import type {Finding} from '../finding.ts';

/** A finding about an app. `platform`: null for all. `count`: how many requests show it. */
export type AppFinding = Finding & {platform: 'ios' | 'android' | null; count: number};

const names = {ios: 'iOS', android: 'Android'} as const;
type AppFault = {platform: AppFinding['platform']; check: string; count?: number; message: string; next: string};

export const finding = (
	status: AppFinding['status'],
	{platform, check, count = 0, message, next}: AppFault,
): AppFinding => {
	const area = platform === null ? 'App' : names[platform];
	return {area, check, status, message: `${area}: ${message}`, next, platform, count};
};
export const warn = (fault: AppFault) => finding('warn', fault);
export const fail = (fault: AppFault) => finding('fail', fault);
