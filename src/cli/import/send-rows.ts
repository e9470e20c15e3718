import {type FileHandle, open} from 'node:fs/promises';
import {OplinkApiError, type OplinkFieldFault} from '../../client/errors.ts';
import {counted} from '../../platform/text.ts';
import {cellText} from '../terminal/output.ts';
import {channelHint, type PrefixNeeds} from './formats/fit-row.ts';
import {type ImportRow, type Place, plainLines} from './formats/import-row.ts';

const FAILURES_SHOWN = 20;

/** `line 12`, and in a JSON array `line 12 (item 3)`. */
const placeText = ({line, item}: Pick<Failure, 'line' | 'item'>): string =>
	item === undefined ? `line ${line}` : `line ${line} (item ${item})`;

export const summaryText = ({created, updated, skipped, failed}: ImportSummary, dryRun: boolean): string =>
	`${dryRun ? 'Would be: ' : ''}${created} created, ${updated} updated, ${skipped} skipped, ${failed} failed`;

/** The first failures by line, and the number of others. `names`: the fields' names in the file. */
export const failureLines = (
	{failures, failed}: Pick<ImportSummary, 'failures' | 'failed'>,
	names: Record<string, string> | null,
): string[] => [
	...failures
		.slice(0, FAILURES_SHOWN)
		// Reasons quote the file; its text must not move the cursor.
		.map((failure) => `${placeText(failure)}: ${cellText(reasonOf(failure, names))}`),
	...(failed > FAILURES_SHOWN ? [`… and ${failed - FAILURES_SHOWN} more`] : []),
];

/** Fields without a counterpart, most frequent first; empty if there are none. */
export const notCarriedOverLines = (summary: ImportSummary): string[] => {
	const counts = Object.entries(summary.notCarriedOver ?? {}).sort(([, a], [, b]) => b - a);
	const width = Math.max(0, ...counts.map(([, count]) => String(count).length));
	return counts.length === 0
		? []
		: [
				'Not carried over (docs/importing.md lists what is):',
				...counts.map(([name, count]) => `  ${String(count).padStart(width)} × ${cellText(name)}`),
			];
};

/** The commands by which the old addresses of the rows, with a prefix before the code, lead to the links. */
export const prefixLines = (prefixes: PrefixNeeds, organization: string): string[] =>
	[...prefixes]
		.filter(([, {needs}]) => needs.size > 0)
		.map(([hostname, {has, needs}]) => {
			const options = [...has, ...needs].map((prefix) => ` --path-prefix ${prefix}`).join('');
			return `Next: oplink domains set --org ${organization} ${hostname}${options}, for the old addresses with a prefix`;
		});

/** The message for a file without rows, whose figures alone could mean success. */
export const emptyText = (name: string): string => `${name} has no rows`;

/** The message for a file that could not be read to its end. */
export const brokenOffText = ({summary}: ImportState, name: string): string =>
	`${name} was read as far as ${counted(rowsDone(summary), 'row')}. Fix it where it breaks off and import it again: links that ` +
	'exist are skipped.';

/** The message for an unfinished import. */
export const soFarText = ({summary}: ImportState, name: string, dryRun: boolean): string =>
	`The server confirmed ${counted(rowsDone(summary), 'row')} of ${name}, and more may be imported (${summaryText(summary, dryRun)}). ` +
	'Run the same command to continue: links that exist are skipped.';

type RowStatus = 'created' | 'updated' | 'skipped' | 'failed';

/** The outcome of a row, with the reason of a failure. `url` is the link's, if the answer has it. */
export type RowOutcome = {
	row: ImportRow;
	status: RowStatus;
	message?: string;
	details?: OplinkFieldFault[];
	url?: string;
};

/** How an import treats a row whose short code or external id exists. */
export type OnConflict = 'skip' | 'update' | 'fail';

/** A row that could not be read and was not sent. */
export const unreadable = (row: ImportRow): RowOutcome => ({
	row,
	status: 'failed',
	message: row.error ?? 'cannot be read',
});

const isFault = (value: unknown): value is OplinkFieldFault =>
	typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';

/** Codes of refusals that every row of the organization would get: said once, they end the import. */
export const REFUSALS_OF_ALL: ReadonlySet<unknown> = new Set(['APP_CONFIG_REQUIRED', 'PLAN_NOT_SELECTED']);

/** A rejected row. `error`: an exception, the envelope in a line of an import, or a plain message. */
export const refused = (row: ImportRow, error: unknown): RowOutcome => {
	// The client's message repeats the details.
	const fault = error instanceof OplinkApiError ? (error.envelope ?? error) : error;
	const {message, details} = (typeof fault === 'object' && fault !== null ? fault : {message: fault}) as {
		message?: unknown;
		details?: unknown;
	};
	const faults = Array.isArray(details) ? details.filter(isFault) : [];
	return {
		row,
		status: 'failed',
		message: typeof message === 'string' ? message : 'refused without a reason',
		...(faults.length > 0 ? {details: faults} : {}),
	};
};

/**
 * Why a row failed, in one line: the invalid fields if known, else the message. `names` are the fields' names in the
 * file if they differ.
 */
export const reasonOf = (
	{message = '', details = []}: Pick<RowOutcome, 'message' | 'details'>,
	names: Record<string, string> | null = null,
): string =>
	details
		.map((detail) => {
			const name = names?.[detail.field ?? ''];
			return name === undefined || name === detail.field ? detail.message : `${detail.message} (${name})`;
		})
		.join('; ') || message;

/** A failed row: its place in the input file and the reason. */
export type Failure = Place & {message: string; details?: OplinkFieldFault[]};

/**
 * The result of an import. `failures` holds the first thousand, to bound the memory; `notCarriedOver` counts rows by
 * field without a counterpart.
 */
type ImportSummary = Record<RowStatus, number> & {
	failures: Failure[];
	notCarriedOver?: Record<string, number>;
};

/** The file of failed rows in their original text, to be fixed and imported again. */
type FailedRows = {add: (row: ImportRow) => Promise<void>; close: () => Promise<void>};

/** Opens `file` with the first failed row, whose framing all rows share. Without failures no file is created. */
export const createFailedRows = (file: string): FailedRows => {
	let handle: FileHandle | null = null;
	let wrapping = plainLines;
	return {
		add: async (row) => {
			if (handle) {
				await handle.writeFile(wrapping.between + row.raw);
				return;
			}

			({wrapping} = row);
			handle = await open(file, 'w');
			await handle.writeFile(wrapping.open + row.raw);
		},
		close: async () => {
			await handle?.writeFile(wrapping.close);
			await handle?.close();
		},
	};
};

/** The summary so far, the processed bytes of the input, and next steps for failures. */
export type ImportState = {summary: ImportSummary; bytes: number; hints: Set<string>};

const MAX_FAILURES_KEPT = 1000;
const MAX_NAMES_KEPT = 100;

export const createImportState = (): ImportState => ({
	summary: {created: 0, updated: 0, skipped: 0, failed: 0, failures: []},
	bytes: 0,
	hints: new Set(),
});

const countLeft = (summary: ImportSummary, {foreign}: ImportRow): void => {
	for (const name of foreign?.left ?? []) {
		summary.notCarriedOver ??= {};
		const counts = summary.notCarriedOver;
		if (Object.hasOwn(counts, name) || Object.keys(counts).length < MAX_NAMES_KEPT) {
			counts[name] = (counts[name] ?? 0) + 1;
		}
	}
};

/** Stores a failed row. */
export const keepFailure = (
	failures: Failure[],
	{row: {line, item}, message = '', details}: Omit<RowOutcome, 'status'>,
): void => {
	if (failures.length < MAX_FAILURES_KEPT) {
		failures.push({line, ...(item === undefined ? {} : {item}), message, ...(details ? {details} : {})});
	}
};

/** Concurrent rows complete in any order. */
export const inFileOrder = (a: Place, b: Place): number => a.line - b.line || (a.item ?? 0) - (b.item ?? 0);

/** Bytes of the input that a row took. */
export const bytesOf = ({raw}: ImportRow): number => Buffer.byteLength(raw) + 1;

/** The next step after a refusal of the server. */
const hintAfter = ({message = '', details = []}: RowOutcome): string | undefined =>
	[message, ...details.map((fault) => fault.message)].some((text) => text.startsWith('Unknown channel '))
		? channelHint
		: undefined;

/** Counts outcomes into `state` as they arrive, and stores failed rows. @throws errors of sending. */
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
			const hint = row.error === undefined ? hintAfter(outcome) : row.hint;
			if (hint !== undefined) {
				state.hints.add(hint);
			}
		}
	} finally {
		summary.failures.sort(inFileOrder);
		await failedRows?.close();
	}
};

/** Completed rows. */
export const rowsDone = ({created, updated, skipped, failed}: ImportSummary): number =>
	created + updated + skipped + failed;
