import {OplinkConnectionError} from '../../client/errors.ts';
import type {LinkSurface} from '../server/link-surface.ts';
import type {ImportRow} from './formats/import-row.ts';
import {type OnConflict, type RowOutcome, type RowStatus, refused, unreadable} from './row-outcome.ts';

type ResultLine = {line: number; status: RowStatus; url?: string; error?: unknown};

/**
 * Streams rows to the import of the admin API and yields what becomes of each as the server says it. The server counts
 * the lines that it gets, so rows under way are kept by that number; how many those are is bounded by the sockets'
 * buffers.
 * @throws OplinkConnectionError where the answer ends before every row has one.
 */
export async function* sendThroughAdmin(
	{client, base}: LinkSurface,
	rows: AsyncIterable<ImportRow>,
	{dryRun, onConflict}: {dryRun: boolean; onConflict: OnConflict},
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
			yield JSON.stringify(row.row);
		}
	};
	const path = `${base}/import`;
	const broken = (reason: string) =>
		new OplinkConnectionError({method: 'POST', baseUrl: client.baseUrl, path}, new Error(reason));
	for await (const text of client.exchange(path, {dryRun, onConflict}, lines())) {
		yield* unsent.splice(0);
		const result = JSON.parse(text) as ResultLine;
		const row = underWay.get(result.line);
		if (row === undefined) {
			throw broken(`unexpected answer: ${text.slice(0, 200)}`);
		}

		underWay.delete(result.line);
		yield result.status === 'failed'
			? refused(row, result.error)
			: {row, status: result.status, ...(result.url === undefined ? {} : {url: result.url})};
	}

	yield* unsent.splice(0);
	if (underWay.size > 0) {
		throw broken(`it stopped with ${underWay.size} row(s) unanswered`);
	}
}
