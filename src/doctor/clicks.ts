import type {ClickStore} from '../clicks/click-store.ts';
import {type Finding, findingsOf} from './finding.ts';

const {ok, fail} = findingsOf('Clicks');

/** Checks the store of raw clicks, if it is not PostgreSQL. @param waitingBytes of this process's journal. */
export const checkClicks = async (
	ping: ClickStore['ping'],
	{waitingBytes}: {waitingBytes: number},
): Promise<Finding[]> => {
	if (ping === null) {
		return [ok('clicks.reachable', 'they are in PostgreSQL')];
	}

	try {
		await ping();
		return [ok('clicks.reachable', 'ClickHouse answers')];
	} catch (error) {
		const {cause, message} = error as Error;
		const reason =
			cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : message;
		return [
			fail(
				'clicks.reachable',
				`ClickHouse cannot be used: ${reason}; raw clicks wait in the journal, ${waitingBytes} bytes in this process`,
				'Start ClickHouse, or correct CLICKS_URL',
			),
		];
	}
};
