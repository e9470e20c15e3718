import {type Detail, envelopeOf} from './api-error.ts';
import type {ImportRow} from './import-formats/import-row.ts';

export type RowStatus = 'created' | 'updated' | 'skipped' | 'failed';

/** What became of a row; a failed one says why. */
export type RowOutcome = {row: ImportRow; status: RowStatus; message?: string; details?: Detail[]};

/** What an import does with a row whose short code or external id exists. */
export type OnConflict = 'skip' | 'update' | 'fail';

/** A row that could not be read, and so was not sent. */
export const unreadable = (row: ImportRow): RowOutcome => ({
	row,
	status: 'failed',
	message: row.error ?? 'cannot be read',
});

/** A row that was refused, with what the envelope or the plain message of the refusal says. */
export const refused = (row: ImportRow, error: unknown): RowOutcome => {
	const {message, details} = envelopeOf(error);
	return {
		row,
		status: 'failed',
		message: message ?? 'refused without a reason',
		...(details.length > 0 ? {details} : {}),
	};
};

/** Why a row failed, in one line: the bad fields where they are known, else the message. */
export const reasonOf = ({message = '', details}: Pick<RowOutcome, 'message' | 'details'>): string =>
	details?.map((detail) => detail.message).join('; ') || message;
