import type {ClickHouse} from './clickhouse.ts';

/** The columns of `rowsAsText`, of PostgreSQL's `clicks`. Writer 0: rolled up. */
export const textColumns = 'id, occurred_at, organization_id, link_id, context_id, channel, referrer_host, writer';

/** Bytes handed over at once, in whole lines. */
const CHUNK_BYTES = 1024 * 1024;

async function* inLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
	let waiting: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of chunks) {
		waiting.push(chunk);
		bytes += chunk.length;
		if (bytes >= CHUNK_BYTES) {
			const all = Buffer.concat(waiting);
			const end = all.lastIndexOf(10) + 1;
			yield all.subarray(0, end);
			waiting = [all.subarray(end)];
			bytes = all.length - end;
		}
	}

	yield Buffer.concat(waiting);
}

/** All clicks as lines of COPY's text format for PostgreSQL. @param condition an optional WHERE. */
export const rowsAsText = (clickHouse: ClickHouse, condition: string): AsyncIterable<Buffer> =>
	inLines(
		clickHouse.stream(`SELECT id, concat(toString(toDateTime(intDiv(occurred_at, 1000000), 'UTC')), '.',
				substring(toString(1000000 + occurred_at % 1000000), 2), 'Z'), organization_id, link_id, context_id, channel,
				referrer_host, 0
			FROM clicks FINAL ${condition}`),
	);
