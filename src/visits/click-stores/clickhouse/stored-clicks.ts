import type {Db} from '../../../platform/db/db.ts';
import {run, type Sql, sql} from '../../../platform/db/sql.ts';
import {joinWords, wordColumns} from '../../clicks/click-sql.ts';
import {dayOf} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';

/** A row of ClickHouse without the counted values. Numbers that do not fit into doubles are texts. */
export type StoredClick = {
	organization_id: string;
	link_id: string;
	occurred_at: number;
	id: string;
	version: number;
	batch: string;
	context_id: string | null;
	campaign_id: string | null;
	is_person: number;
	referrer_host: string | null;
};

/** The columns of `StoredClick`. */
export const storedColumns =
	'organization_id, link_id, occurred_at, id, version, batch, toString(context_id) AS context_id, toString(campaign_id) AS campaign_id, is_person, referrer_host';

/** The key of a click in ClickHouse; `at` has microseconds. */
type StoredKey = {organizationId: string; linkId: string; at: string; id: string};

/** Keys of clicks in PostgreSQL. @param rows a SELECT of `click_id`, `organization_id`, `link_id` and `created_at`. */
export const readKeys = (db: Db, rows: Sql): Promise<StoredKey[]> =>
	run(
		db,
		sql`SELECT organization_id AS "organizationId", link_id AS "linkId", click_id AS id,
			CAST(CAST(extract(epoch FROM created_at) * 1000000 AS bigint) AS text) AS at
		FROM (${rows}) AS keys`,
	);

/** A condition for clicks of keys. It uses the table's key, so few rows are read. */
const hasKey = (keys: readonly StoredKey[]): string =>
	`(organization_id, day, link_id, occurred_at, id) IN (${keys
		.map(
			({organizationId, linkId, at, id}) =>
				`(${literal(organizationId)}, ${literal(dayOf(Number(at)))}, ${literal(linkId)}, ${literal(Number(at))}, ${literal(id)})`,
		)
		.join(', ')})`;

const KEYS_AT_ONCE = 1000;

export const readByKeys = async (clickHouse: ClickHouse, keys: readonly StoredKey[]): Promise<StoredClick[]> => {
	const found: StoredClick[] = [];
	for (let first = 0; first < keys.length; first += KEYS_AT_ONCE) {
		const some = keys.slice(first, first + KEYS_AT_ONCE);
		found.push(
			...(await clickHouse.select<StoredClick>(`SELECT ${storedColumns} FROM clicks FINAL WHERE ${hasKey(some)}`)),
		);
	}

	return found;
};

/** An item of a FROM: stored clicks as `clicksInFull`; contexts and campaigns are in PostgreSQL. */
export const fullRows = (clicks: readonly StoredClick[]): Sql => {
	const stored = JSON.stringify(clicks.map(({occurred_at: at, ...click}) => ({...click, at})));
	return sql`(SELECT stored.id, to_timestamp(stored.at / 1000000.0) AS occurred_at, stored.organization_id, stored.link_id,
			stored.context_id, stored.campaign_id, stored.referrer_host, ${wordColumns}
		FROM json_to_recordset(${stored}::json) AS stored (id uuid, at bigint, organization_id uuid, link_id uuid,
			context_id bigint, campaign_id bigint, referrer_host text) ${joinWords(sql`stored`)})`;
};
