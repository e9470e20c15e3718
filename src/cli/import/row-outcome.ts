import type {OplinkFieldFault} from '../../client/errors.ts';
import type {ImportRow} from './formats/import-row.ts';

export type RowStatus = 'created' | 'updated' | 'skipped' | 'failed';

/** What became of a row; a failed one says why. `url` is the link's, where the answer told it. */
export type RowOutcome = {
	row: ImportRow;
	status: RowStatus;
	message?: string;
	details?: OplinkFieldFault[];
	url?: string;
};

/** What an import does with a row whose short code or external id exists. */
export type OnConflict = 'skip' | 'update' | 'fail';

/** A row that could not be read, and so was not sent. */
export const unreadable = (row: ImportRow): RowOutcome => ({
	row,
	status: 'failed',
	message: row.error ?? 'cannot be read',
});

const isFault = (value: unknown): value is OplinkFieldFault =>
	typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';

/** A row that was refused. `error`: what was thrown, the envelope in a line of an import, or a plain message. */
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
 * Why a row failed, in one line: the bad fields where they are known, else the message. `names` are those that the
 * fields have in the file, where it has others.
 */
export const reasonOf = (
	{message = '', details = []}: Pick<RowOutcome, 'message' | 'details'>,
	names: Record<string, string> | null = null,
): string =>
	details
		.map((detail) => {
			const name = names?.[detail.field ?? ''];
			return name === undefined ? detail.message : `${detail.message} (${name})`;
		})
		.join('; ') || message;
