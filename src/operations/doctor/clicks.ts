import type {ClickJournal} from '../../visits/clicks/journal/click-journal.ts';
import type {ClickStore} from '../../visits/reports/click-store.ts';
import {type Finding, findingsOf} from '../finding.ts';

const {ok, warnIf, fail} = findingsOf('Clicks');

const MEGABYTE = 1024 * 1024;

/** Checks the store of raw clicks, if it is not PostgreSQL. @param ping rejects if it does not answer; null: there is none. */
export const checkClickStore = async (ping: ClickStore['ping']): Promise<Finding> => {
	if (ping === null) {
		return ok('clicks.reachable', 'they are in PostgreSQL');
	}

	try {
		await ping();
		return ok('clicks.reachable', 'ClickHouse answers');
	} catch (error) {
		const {cause, message} = error as Error;
		return fail(
			'clicks.reachable',
			`${cause instanceof Error ? cause.message : message}; raw clicks wait in the journal`,
			'Start ClickHouse, or correct CLICKS_URL',
		);
	}
};

/** Checks the free capacity of this process's journal. */
export const checkJournal = ({waitingBytes, maxBytes, lost}: ReturnType<ClickJournal['figures']>): Finding => {
	const message = `${(waitingBytes / MEGABYTE).toFixed(1)} of ${maxBytes / MEGABYTE} MB wait in the journal of this process, ${lost} clicks lost since it started`;
	const next = 'Bring back the database and ClickHouse; until then raise JOURNAL_MAX_MB, if DATA_DIR has room';
	if (waitingBytes >= maxBytes && maxBytes > 0) {
		return fail('clicks.journal', message, next);
	}

	return warnIf(lost > 0 || waitingBytes > maxBytes / 2, 'clicks.journal', message, next);
};
