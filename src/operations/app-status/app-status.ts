import {DAY_MS} from '../../platform/clock.ts';
import {retention} from '../../platform/config/policies.ts';
import type {Services} from '../../services.ts';
import {worstOf} from '../finding.ts';
import {findingsOfApp} from './app-findings.ts';
import {readConfigured, readCountedSince, readCountedUntil, readCounts} from './app-status-store.ts';
import {platformStatus, platformsOf, unknownOf} from './platform-status.ts';

/**
 * The requests of an organization's apps since a time, and the findings, each a sentence with its next step
 * (contract/sdk 12). First opens before the last hours are counted by a job (`countFirstOpens`).
 */
export const readAppStatus = async (
	{appRequests, clock, db}: Pick<Services, 'appRequests' | 'clock' | 'db'>,
	{id, orgKey, createdAt}: {id: string; orgKey: string; createdAt: Date},
	sinceMs: number,
) => {
	const until = clock.now();
	const since = new Date(until.getTime() - sinceMs);
	const oldest = new Date(until.getTime() - retention().appCountDays * DAY_MS);
	await appRequests.settled();
	const countedUntil = await readCountedUntil(db, id);
	const [countedSince, configured, counts] = await Promise.all([
		readCountedSince(db),
		readConfigured(db, id),
		readCounts(db, {organizationId: id, since, countedUntil}),
	]);
	const observed = {configured, counts};
	const platforms = platformsOf(observed).map((platform) => platformStatus(platform, counts));
	const findings = findingsOfApp({platforms, observed, orgKey, since});
	return {
		organizationId: id,
		since,
		until,
		/** Start of the counts of requests that have no rows. */
		countedSince: new Date(Math.max(Number(createdAt), Number(oldest), Number(countedSince))),
		status: worstOf(findings),
		platforms,
		unknown: unknownOf(counts),
		association: {ios: {lastFetchedAt: configured.ios}, android: {lastFetchedAt: configured.android}},
		findings,
	};
};
export type AppStatus = Awaited<ReturnType<typeof readAppStatus>>;
