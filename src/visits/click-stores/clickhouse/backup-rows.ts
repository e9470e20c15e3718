import {readCopyText} from '../../../platform/db/copy.ts';
import type {Db} from '../../../platform/db/db.ts';
import {clickStoreUnavailable} from '../../../platform/errors.ts';
import {applyChanges} from './changes.ts';
import type {ClickHouse} from './clickhouse.ts';

/** The columns of `rowsAsText`, of PostgreSQL's `clicks`. Writer 0: rolled up. */
export const textColumns = 'id, occurred_at, organization_id, link_id, context_id, campaign_id, referrer_host, writer';

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
				substring(toString(1000000 + occurred_at % 1000000), 2), 'Z'), organization_id, link_id, context_id, campaign_id,
				referrer_host, 0
			FROM clicks FINAL ${condition}`),
	);

/**
 * A row of TabSeparated as `row_to_json` writes a row of `clicks`.
 * @throws 503 for anything else: ClickHouse writes an error behind the rows that it has sent.
 */
const jsonOf = (line: string): string => {
	const [id, at = '', organizationId, linkId, contextId, campaignId, referrer = '', writer] = line.split('\t');
	if (writer === undefined) {
		throw clickStoreUnavailable(new Error(`ClickHouse (CLICKS_URL) broke off its answer: ${line}`));
	}

	const number = (value: string | undefined) => (value === '\\N' ? 'null' : value);
	const text = (value: string): string => JSON.stringify(readCopyText(value));
	const time = `${at.replace(' ', 'T').replace(/Z$/, '')}+00:00`;
	return `{"id":"${id}","occurred_at":"${time}","organization_id":"${organizationId}","link_id":"${linkId}","context_id":${number(contextId)},"campaign_id":${number(campaignId)},"referrer_host":${text(referrer)},"writer":"0"}`;
};

/** The rows of `clicks` for a backup, which PostgreSQL does not have, without erased ones. */
export async function* backupRows(db: Db, clickHouse: ClickHouse): AsyncGenerator<string[]> {
	await applyChanges(db, clickHouse);
	for await (const lines of rowsAsText(clickHouse, '')) {
		const rows = lines.toString().split('\n').filter(Boolean).map(jsonOf);
		if (rows.length > 0) {
			yield rows;
		}
	}
}
