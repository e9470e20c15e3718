import type {OplinkFieldFault} from '../../client/errors.ts';
import type {ImportRow} from './formats/import-row.ts';

export type RowStatus = 'created' | 'updated' | 'skipped' | 'failed';

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

/** A rejected row. `error`: an exception, the envelope in a line of an import, or a plain message. */
export const refused = (row: ImportRow, error: unknown): RowOutcome => {
	const {message, details} = (typeof error === 'object' && error !== null ? error : {message: error}) as {
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
