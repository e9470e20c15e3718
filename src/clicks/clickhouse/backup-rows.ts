import {readCopyText} from '../../db/copy-in.ts';
import type {Db} from '../../db/db.ts';
import {clickStoreUnavailable} from '../../errors.ts';
import {applyChanges} from './changes.ts';
import type {ClickHouse} from './clickhouse.ts';
import {rowsAsText} from './rows-as-text.ts';

/**
 * A row of TabSeparated as `row_to_json` writes a row of `clicks`.
 * @throws 503 for anything else: ClickHouse writes an error behind the rows that it has sent.
 */
const jsonOf = (line: string): string => {
	const [id, at = '', organizationId, linkId, contextId, channel = '', referrer = '', writer] = line.split('\t');
	if (writer === undefined) {
		throw clickStoreUnavailable(new Error(`ClickHouse (CLICKS_URL) broke off its answer: ${line}`));
	}

	const text = (value: string): string => JSON.stringify(readCopyText(value));
	const time = `${at.replace(' ', 'T').replace(/Z$/, '')}+00:00`;
	return `{"id":"${id}","occurred_at":"${time}","organization_id":"${organizationId}","link_id":"${linkId}","context_id":${contextId === '\\N' ? 'null' : contextId},"channel":${text(channel)},"referrer_host":${text(referrer)},"writer":"0"}`;
};

/** The rows of `clicks` for a backup, which PostgreSQL does not have: what was erased before is not among them. */
export async function* backupRows(db: Db, clickHouse: ClickHouse): AsyncGenerator<string[]> {
	await applyChanges(db, clickHouse);
	for await (const lines of rowsAsText(clickHouse, '')) {
		const rows = lines.toString().split('\n').filter(Boolean).map(jsonOf);
		if (rows.length > 0) {
			yield rows;
		}
	}
}
