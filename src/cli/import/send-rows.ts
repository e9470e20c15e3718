import type {OplinkFieldFault} from '../../client/errors.ts';
import type {FailedRows} from './failed-rows.ts';
import type {ImportRow, Place} from './formats/import-row.ts';
import type {RowOutcome, RowStatus} from './row-outcome.ts';

/** A failed row: where it stands in the input file, and why. */
export type Failure = Place & {message: string; details?: OplinkFieldFault[]};

/**
 * What an import did. `failures` holds the first thousand, so that a hopeless file does not fill the memory;
 * `notCarriedOver` counts rows by what they had and a link has no place for.
 */
export type ImportSummary = Record<RowStatus, number> & {
	failures: Failure[];
	notCarriedOver?: Record<string, number>;
};

/** The summary so far, how much of the input is done, in bytes, and what can be done about failures. */
export type ImportState = {summary: ImportSummary; bytes: number; hints: Set<string>};

const MOST_FAILURES_KEPT = 1000;
const MOST_NAMES_KEPT = 100;

export const createImportState = (): ImportState => ({
	summary: {created: 0, updated: 0, skipped: 0, failed: 0, failures: []},
	bytes: 0,
	hints: new Set(),
});

const countLeft = (summary: ImportSummary, {foreign}: ImportRow): void => {
	for (const name of foreign?.left ?? []) {
		summary.notCarriedOver ??= {};
		const counts = summary.notCarriedOver;
		if (Object.hasOwn(counts, name) || Object.keys(counts).length < MOST_NAMES_KEPT) {
			counts[name] = (counts[name] ?? 0) + 1;
		}
	}
};

/** Adds a failed row to those that are kept. */
export const keepFailure = (
	failures: Failure[],
	{row: {line, item}, message = '', details}: Omit<RowOutcome, 'status'>,
): void => {
	if (failures.length < MOST_FAILURES_KEPT) {
		failures.push({line, ...(item === undefined ? {} : {item}), message, ...(details ? {details} : {})});
	}
};

/** Rows under way at the same time come back in any order. */
export const inFileOrder = (a: Place, b: Place): number => a.line - b.line || (a.item ?? 0) - (b.item ?? 0);

/** How much of the input a row was. */
export const bytesOf = ({raw}: ImportRow): number => Buffer.byteLength(raw) + 1;

/** Counts outcomes into `state` as they come, and keeps the failed rows. @throws what sending throws. */
export const importLinks = async (
	outcomes: AsyncIterable<RowOutcome>,
	{state, failedRows}: {state: ImportState; failedRows: FailedRows | null},
): Promise<void> => {
	const {summary} = state;
	try {
		for await (const outcome of outcomes) {
			const {row, status} = outcome;
			summary[status] += 1;
			state.bytes += bytesOf(row);
			if (status !== 'failed') {
				countLeft(summary, row);
				continue;
			}

			await failedRows?.add(row);
			keepFailure(summary.failures, outcome);
			if (row.error !== undefined && row.hint !== undefined) {
				state.hints.add(row.hint);
			}
		}
	} finally {
		summary.failures.sort(inFileOrder);
		await failedRows?.close();
	}
};

/** Rows that have an outcome. */
export const rowsDone = ({created, updated, skipped, failed}: ImportSummary): number =>
	created + updated + skipped + failed;
