import {DAY_MS} from '../../platform/clock.ts';
import {retention} from '../../platform/config/policies.ts';
import type {Services} from '../../services.ts';
import {worstOf} from '../finding.ts';
import type {AppFinding} from './app-finding.ts';
import {findingsOfApp} from './app-findings.ts';
import {readConfigured, readCountedUntil, readCounts, readFirstOpens} from './app-status-store.ts';
import {type PlatformStatus, platformStatus, platformsOf, type UnknownRequests, unknownOf} from './platform-status.ts';

/** The requests of an organization's apps, and the findings (contract/sdk 12). */
export type AppStatus = {
	organizationId: string;
	since: Date;
	until: Date;
	/** Start of the counts of requests that have no rows. */
	countedSince: Date;
	status: AppFinding['status'];
	platforms: PlatformStatus[];
	unknown: UnknownRequests;
	association: Record<'ios' | 'android', {lastFetchedAt: Date | null}>;
	findings: AppFinding[];
};

/**
 * The requests of an organization's apps since a time, and what is missing, each in a sentence with its next step. First
 * opens before the last hours are counted by a job (`countFirstOpens`).
 */
export const readAppStatus = async (
	{appRequests, clock, db}: Pick<Services, 'appRequests' | 'clock' | 'db'>,
	{id, orgKey}: {id: string; orgKey: string},
	sinceMs: number,
): Promise<AppStatus> => {
	const until = clock.now();
	const since = new Date(until.getTime() - sinceMs);
	const oldest = new Date(until.getTime() - retention().appCountDays * DAY_MS);
	await appRequests.settled();
	const countedUntil = await readCountedUntil(db, id);
	const [configured, counts, opens] = await Promise.all([
		readConfigured(db, id),
		readCounts(db, {organizationId: id, since}),
		readFirstOpens(db, {organizationId: id, since, countedUntil}),
	]);
	const observed = {configured, counts, opens};
	const platforms = platformsOf(observed).map((platform) => platformStatus(platform, observed));
	const findings = findingsOfApp({platforms, observed, orgKey, since});
	return {
		organizationId: id,
		since,
		until,
		countedSince: configured.createdAt > oldest ? configured.createdAt : oldest,
		status: worstOf(findings),
		platforms,
		unknown: unknownOf(observed),
		association: {ios: {lastFetchedAt: configured.fetched.ios}, android: {lastFetchedAt: configured.fetched.android}},
		findings,
	};
};
