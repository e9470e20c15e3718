import type {Clock} from '../../../platform/clock.ts';
import type {Db} from '../../../platform/db/db.ts';
import type {ClickJournal} from '../../clicks/journal/click-journal.ts';
import type {ClickStore} from '../click-store.ts';
import {beginReport} from './begin-report.ts';
import {readBounds} from './stats-bounds.ts';
import {readLinkCounts} from './stats-store.ts';

const LAST_30_DAYS = {from: null, to: null, interval: 'month', timezone: 'UTC'} as const;

/**
 * People's clicks of an organization's links by link id, counted by one statement, over the last 30 days (UTC)
 * including today, the default range of reports. Links without clicks are missing.
 */
export const countLinkClicks = async (
	services: {clickJournal: Pick<ClickJournal, 'flushed'>; clicks: ClickStore; clock: Clock; db: Db},
	organizationId: string,
	linkIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
	await services.clickJournal.flushed({containing: [organizationId]});
	const reader = await services.clicks.reader(organizationId);
	const {range} = await readBounds(services.db, LAST_30_DAYS, services.clock.now());
	const read = async (trx: Db) => {
		const coverage = await beginReport(trx, {organizationId, linkIds: null}, range);
		return readLinkCounts(trx, {organizationId, linkIds}, range, coverage, reader);
	};
	const counts = await reader.inTurn(() =>
		services.db.transaction(read, {isolationLevel: 'repeatable read', readOnly: true}),
	);
	return new Map(counts.map(({key, count}) => [key, count]));
};
