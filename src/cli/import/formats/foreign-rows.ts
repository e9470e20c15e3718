import {type ForeignLink, UnusableRow} from './foreign-fields.ts';
import type {ImportRow, Place, Wrapping} from './import-row.ts';

/** The link that a row of another service means. It throws UnusableRow for a row that can be none. */
export type LinkMapper<Row> = (row: Row) => ForeignLink;

/** The row as one of ours, or as the reason why it is none. */
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

/** Rows that hold objects of another service. */
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
