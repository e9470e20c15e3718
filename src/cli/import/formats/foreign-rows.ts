import {type ForeignLink, UnusableRow} from './foreign-fields.ts';
import type {ImportRow, Place, Wrapping} from './import-row.ts';

/** Converts a foreign row to a link. @throws UnusableRow if that is impossible. */
export type LinkMapper<Row> = (row: Row) => ForeignLink;

/** The converted row, or the reason for its rejection. */
export const mapped = <Row>(
	given: Place & {raw: string; wrapping: Wrapping},
	row: Row,
	mapper: LinkMapper<Row>,
): ImportRow => {
	try {
		const {link, facts} = mapper(row);
		return {...given, row: link, foreign: facts};
	} catch (error) {
		if (error instanceof UnusableRow) {
			return {...given, error: error.message};
		}

		throw error;
	}
};

/** Rows of another service's objects. */
export async function* mappedRows(
	rows: AsyncIterable<ImportRow>,
	mapper: LinkMapper<Record<string, unknown>>,
): AsyncGenerator<ImportRow> {
	for await (const given of rows) {
		if (given.row === undefined) {
			yield given;
			continue;
		}

		const {row, ...place} = given;
		yield mapped(place, row, mapper);
	}
}
