import type {OplinkFieldFault} from '../client/errors.ts';
import type {FailedRows} from './failed-rows.ts';
import type {RowOutcome, RowStatus} from './row-outcome.ts';

/** A failed row: `line` of the input file, and why. */
export type Failure = {line: number; message: string; details?: OplinkFieldFault[]};

/** What an import did. `failures` holds the first thousand, so that a hopeless file does not fill the memory. */
export type ImportSummary = Record<RowStatus, number> & {failures: Failure[]};

/** The summary so far, and how much of the input is done, in bytes. */
export type ImportState = {summary: ImportSummary; bytes: number};

const MOST_FAILURES_KEPT = 1000;

export const createImportState = (): ImportState => ({
	summary: {created: 0, updated: 0, skipped: 0, failed: 0, failures: []},
	bytes: 0,
});

/** Counts outcomes into `state` as they come, and keeps the failed rows. @throws what sending throws. */
export const importLinks = async (
	outcomes: AsyncIterable<RowOutcome>,
	{state, failedRows}: {state: ImportState; failedRows: FailedRows | null},
): Promise<void> => {
	const {summary} = state;
	try {
		for await (const {row, status, message = '', details} of outcomes) {
			summary[status] += 1;
			state.bytes += Buffer.byteLength(row.raw) + 1;
			if (status !== 'failed') {
				continue;
			}

			await failedRows?.add(row);
			if (summary.failures.length < MOST_FAILURES_KEPT) {
				summary.failures.push({line: row.line, message, ...(details ? {details} : {})});
			}
		}
	} finally {
		// Rows under way at the same time come back in any order.
		summary.failures.sort((a, b) => a.line - b.line);
		await failedRows?.close();
	}
};

/** Rows that have an outcome. */
export const rowsDone = ({created, updated, skipped, failed}: ImportSummary): number =>
	created + updated + skipped + failed;
