import {type FileHandle, open} from 'node:fs/promises';
import {OplinkApiError, type OplinkFieldFault} from '../../client/errors.ts';
import {counted} from '../../platform/text.ts';
import type {Io} from '../terminal/io.ts';
import {cellText} from '../terminal/output.ts';
import {startProgress} from '../terminal/progress.ts';
import {channelHint, type PrefixNeeds} from './formats/fit-row.ts';
import type {ImportRow, Place, RowFraming} from './formats/import-row.ts';
import type {ImportInput} from './import-input.ts';

const FAILURES_SHOWN = 20;

/** `line 12`, and in a JSON array `line 12 (item 3)`. */
const placeText = ({line, item}: Pick<Failure, 'line' | 'item'>): string =>
	item === undefined ? `line ${line}` : `line ${line} (item ${item})`;

export const summaryText = ({created, updated, skipped, failed}: ImportState['counts'], dryRun: boolean): string =>
	`${dryRun ? 'Would be: ' : ''}${created} created, ${updated} updated, ${skipped} skipped, ${failed} failed`;

/** The first failures by line, and the number of others. `names`: the fields' names in the file. */
export const failureLines = <Status extends string>(
	{failures, counts: {failed}}: Tally<Status>,
	names: Record<string, string> | null,
): string[] => [
	...failures
		.slice(0, FAILURES_SHOWN)
		// Reasons quote the file; its text must not move the cursor.
		.map((failure) => `${placeText(failure)}: ${cellText(reasonOf(failure, names))}`),
	...(failed > FAILURES_SHOWN ? [`… and ${failed - FAILURES_SHOWN} more`] : []),
];

/** Fields without a counterpart, most frequent first; empty if there are none. */
export const notCarriedOverLines = ({notCarriedOver}: ImportState): string[] => {
	const counts = Object.entries(notCarriedOver).sort(([, a], [, b]) => b - a);
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
export const brokenOffText = (state: ImportState, name: string): string =>
	`${name} was read as far as ${counted(rowsDone(state), 'row')}. Fix it where it breaks off and import it again: links that ` +
	'exist are skipped.';

/** The message for an unfinished import. */
export const soFarText = (state: ImportState, name: string, dryRun: boolean): string =>
	`The server confirmed ${counted(rowsDone(state), 'row')} of ${name}, and more may be imported (${summaryText(state.counts, dryRun)}). ` +
	'Run the same command to continue: links that exist are skipped.';

type RowStatus = 'created' | 'updated' | 'skipped' | 'failed';

/** The outcome of a row, with the reason of a failure. `url` is the link's, if the answer has it. */
export type RowOutcome<Status extends string = RowStatus> = {
	row: ImportRow;
	status: Status;
	message?: string;
	details?: OplinkFieldFault[];
	url?: string;
};

/** How an import treats a row whose short code or external id exists. */
export type OnConflict = 'skip' | 'update' | 'fail';

const isFault = (value: unknown): value is OplinkFieldFault =>
	typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';

/** Codes of refusals that every row of the organization would get: said once, they end the import. */
export const REFUSALS_OF_ALL: ReadonlySet<unknown> = new Set(['APP_CONFIG_REQUIRED', 'PLAN_NOT_SELECTED']);

/** A rejected row. `error`: an exception, the envelope in a line of an import, or a plain message. */
export const refused = (row: ImportRow, error: unknown): RowOutcome<'failed'> => {
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
const reasonOf = (
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

/** The outcomes so far: rows by status, and the first thousand failures, to bound the memory. */
export type Tally<Status extends string> = {counts: Record<Status | 'failed', number>; failures: Failure[]};

/** Completed rows. */
export const rowsDone = ({counts}: Pick<Tally<string>, 'counts'>): number =>
	Object.values(counts).reduce((sum, count) => sum + count, 0);

const MAX_FAILURES_KEPT = 1000;

/**
 * Counts outcomes as they arrive, in any order, and shows the progress. Afterwards the failures are in the file's order.
 * @param each also gets every outcome. @throws errors of the outcomes.
 */
export const countOutcomes = async <Status extends string>(
	io: Io,
	{size, fault}: Pick<ImportInput, 'size' | 'fault'>,
	outcomes: AsyncIterable<RowOutcome<Status | 'failed'>>,
	tally: Tally<Status>,
	each: (outcome: RowOutcome<Status | 'failed'>) => Promise<void> = async () => {},
): Promise<void> => {
	const {counts, failures} = tally;
	let bytes = 0;
	const stop = await startProgress(io, () => ({rows: rowsDone(tally), failed: counts.failed, bytes, size}));
	try {
		for await (const outcome of outcomes) {
			const {row, status, message = '', details} = outcome;
			counts[status] += 1;
			bytes += Buffer.byteLength(row.raw) + 1;
			if (status === 'failed' && failures.length < MAX_FAILURES_KEPT) {
				const {line, item} = row;
				failures.push({line, ...(item === undefined ? {} : {item}), message, ...(details ? {details} : {})});
			}

			await each(outcome);
		}

		// The heading and empty lines are not rows, so the rows' sizes add up to less than the file's.
		bytes = fault() === null ? (size ?? bytes) : bytes;
	} finally {
		stop();
		failures.sort((a, b) => a.line - b.line || (a.item ?? 0) - (b.item ?? 0));
	}
};

/** The file of failed rows in their original text, to be fixed and imported again. */
type FailedRows = {add: (row: ImportRow) => Promise<void>; close: () => Promise<void>};

/** Opens `file` with the first failed row, whose framing all rows share. Without failures no file is created. */
const createFailedRows = (file: string): FailedRows => {
	let opened: {handle: FileHandle; wrapping: RowFraming} | null = null;
	return {
		add: async ({raw, wrapping}) => {
			const before = opened === null ? wrapping.open : opened.wrapping.between;
			opened ??= {handle: await open(file, 'w'), wrapping};
			await opened.handle.writeFile(before + raw);
		},
		close: async () => {
			await opened?.handle.writeFile(opened.wrapping.close);
			await opened?.handle.close();
		},
	};
};

/** The result of an import: `notCarriedOver` counts rows by field without a counterpart, `hints` are next steps for failures. */
export type ImportState = Tally<RowStatus> & {notCarriedOver: Record<string, number>; hints: Set<string>};

const MAX_NAMES_KEPT = 100;

const countLeft = (counts: ImportState['notCarriedOver'], {foreign}: ImportRow): void => {
	for (const name of foreign?.left ?? []) {
		if (Object.hasOwn(counts, name) || Object.keys(counts).length < MAX_NAMES_KEPT) {
			counts[name] = (counts[name] ?? 0) + 1;
		}
	}
};

/** The next step after a refusal of the server. */
const hintAfter = ({message = '', details = []}: RowOutcome): string | undefined =>
	[message, ...details.map((fault) => fault.message)].some((text) => text.startsWith('Unknown channel '))
		? channelHint
		: undefined;

/** Counts outcomes into `state` as they arrive, and writes failed rows to `failedFile`. @throws errors of sending. */
export const importLinks = async (
	io: Io,
	input: ImportInput,
	outcomes: AsyncIterable<RowOutcome>,
	{state, failedFile}: {state: ImportState; failedFile: string | null},
): Promise<void> => {
	const failedRows = failedFile === null ? null : createFailedRows(failedFile);
	try {
		await countOutcomes(io, input, outcomes, state, async (outcome) => {
			const {row, status} = outcome;
			if (status !== 'failed') {
				countLeft(state.notCarriedOver, row);
				return;
			}

			await failedRows?.add(row);
			const hint = row.error === undefined ? hintAfter(outcome) : row.hint;
			if (hint !== undefined) {
				state.hints.add(hint);
			}
		});
	} finally {
		await failedRows?.close();
	}
};
