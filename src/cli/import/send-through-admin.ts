import {OplinkApiError, OplinkConnectionError} from '../../client/errors.ts';
import type {ImportAnswer} from '../../links/links/import/import-answer.ts';
import {cutText} from '../../platform/cut-text.ts';
import {counted} from '../../platform/plural.ts';
import type {LinkSurface} from '../server/link-surface.ts';
import type {ImportRow} from './formats/import-row.ts';
import {type OnConflict, REFUSALS_OF_ALL, type RowOutcome, refused, unreadable} from './send-rows.ts';

/** `bodyOf` converts a row to the line that is sent. By default the row is sent as it is. */
type Options = {
	dryRun: boolean;
	onConflict: OnConflict;
	bodyOf?: (row: Record<string, unknown>) => Record<string, unknown>;
};

/**
 * Streams rows to the admin API's import and yields their outcomes. The server numbers the lines it receives, so
 * pending rows are kept by that number; the sockets' buffers bound how many there are.
 * @throws OplinkApiError for a refusal of all rows; OplinkConnectionError if the answer ends before every row has an outcome.
 */
export async function* sendThroughAdmin(
	{client, base}: LinkSurface,
	rows: AsyncIterable<ImportRow>,
	{dryRun, onConflict, bodyOf = (row) => row}: Options,
): AsyncGenerator<RowOutcome> {
	const underWay = new Map<number, ImportRow>();
	const unsent: RowOutcome[] = [];
	let sent = 0;
	const lines = async function* () {
		for await (const row of rows) {
			if (row.error !== undefined) {
				unsent.push(unreadable(row));
				continue;
			}

			sent += 1;
			underWay.set(sent, row);
			yield JSON.stringify(bodyOf(row.row));
		}
	};
	const path = `${base}/import`;
	const broken = (reason: string) =>
		new OplinkConnectionError({method: 'POST', baseUrl: client.baseUrl, path}, new Error(reason));
	for await (const text of client.exchange(path, {dryRun, onConflict}, lines())) {
		yield* unsent.splice(0);
		const result = JSON.parse(text) as ImportAnswer;
		const row = underWay.get(result.line);
		if (row === undefined) {
			throw broken(`unexpected answer: ${cutText(text, 200)}`);
		}

		underWay.delete(result.line);
		if (REFUSALS_OF_ALL.has(result.error?.['code'])) {
			throw new OplinkApiError({status: Number(result.error?.['statusCode']), text: JSON.stringify(result.error)});
		}

		yield result.status === 'failed'
			? refused(row, result.error)
			: {row, status: result.status, ...(result.url === undefined ? {} : {url: result.url})};
	}

	yield* unsent.splice(0);
	if (underWay.size > 0) {
		throw broken(`it stopped with ${counted(underWay.size, 'row')} unanswered`);
	}
}
