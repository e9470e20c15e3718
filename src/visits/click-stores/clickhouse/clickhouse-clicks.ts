import type {Db} from '../../../platform/db/db.ts';
import {inSharedTurns} from '../../../platform/db/feed/shared-turns.ts';
import {type Sql, sql} from '../../../platform/db/sql.ts';
import {createSemaphore, type Semaphore} from '../../../platform/semaphore.ts';
import {clickDimensions} from '../../clicks/dimensions.ts';
import type {ClickReader, ClickStore} from '../../reports/click-store.ts';
import {countDimensions} from '../../reports/rollups/count-dimensions.ts';
import type {Range, Scope} from '../../reports/stats/stats-bounds.ts';
import {applyChanges} from './changes.ts';
import {occurredWithin, QUARTER, selectDimensions} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';
import {dropOldMonths} from './drop-old-months.ts';
import {createExportedClicks, fullRows, readByKeys, readKeys} from './stored-clicks.ts';
import {createStreamReader} from './stream.ts';

const REPORTS_AT_ONCE = 3;

type Options = {
	db: Db;
	clickHouse: ClickHouse;
	/** Resolves when the clicks of this machine that mention one of the texts are in ClickHouse. */
	flushed: (containing: string[]) => Promise<void>;
};

/** A list must not be empty. */
const NO_LINK = '00000000-0000-0000-0000-000000000000';

/** The parts of a range outside its rollups. Rollups have tallies for their missing rows. */
const partsOf = (range: Range, cover: Range): Range[] =>
	(cover.from < cover.to
		? [
				{from: range.from, to: cover.from},
				{from: cover.to, to: range.to},
			]
		: [range]
	).filter(({from, to}) => from < to);

const condition = ({organizationId, linkIds}: Scope, parts: Range[]): string => {
	const links = linkIds === null ? '' : ` AND link_id IN (${[NO_LINK, ...linkIds].map(literal).join(', ')})`;
	const owner = `organization_id = ${literal(organizationId)}${links}`;
	const times = parts.map(({from, to}) => `(${occurredWithin(from, to)})`);
	return `${owner} AND (${times.join(' OR ')})`;
};

/** ClickHouse's counts as SELECTs, which PostgreSQL adds to its own. */
export const createReader = (
	clickHouse: ClickHouse,
	/** Throws if clicks of this machine could not be stored in ClickHouse: a report would lack them. */
	requireCurrent: () => void,
	inTurn: Semaphore,
): ClickReader => {
	const select = async (parts: Range[], statement: string): Promise<Sql> => {
		if (parts.length === 0) {
			return sql`'[]'::json`;
		}

		requireCurrent();
		return sql`${JSON.stringify(await clickHouse.select(statement))}::json`;
	};
	const tallies = ({organizationId, linkIds}: Scope, {from, to}: Range, condition: Sql): Sql =>
		sql`click_tallies WHERE organization_id = ${organizationId} AND ${condition} AND start >= ${from} AND start < ${to}
			${linkIds === null ? sql`` : sql`AND link_id = ANY(${linkIds}::uuid[])`}`;

	return {
		inTurn,
		shared: () => null,
		counts: async (_, {scope, range, cover}) => {
			const parts = partsOf(range, cover);
			const stored = await select(
				parts,
				`SELECT intDiv(occurred_at, ${QUARTER}) AS quarter, sum(is_person) AS people, count() AS visits
					FROM clicks FINAL WHERE ${condition(scope, parts)} GROUP BY quarter`,
			);
			return sql`SELECT to_timestamp(quarter * 900) AS at, people AS clicks, visits - people AS crawler_views
				FROM json_to_recordset(${stored}) AS stored (quarter bigint, people bigint, visits bigint)
				UNION ALL SELECT start, CASE WHEN is_person THEN clicks ELSE 0 END, CASE WHEN is_person THEN 0 ELSE clicks END
				FROM ${tallies(scope, cover, sql`true`)}`;
		},
		dimensions: async (_, {scope, range, cover, by}) => {
			const names = clickDimensions.filter((name) => by.includes(name));
			const parts = names.length === 0 ? [] : partsOf(range, cover);
			const stored = await select(parts, selectDimensions(condition(scope, parts), names));
			const people = sql`(SELECT * FROM ${tallies(scope, cover, sql`is_person`)}) AS people`;
			return sql`SELECT dimension, key, count
				FROM json_to_recordset(${stored}) AS stored (dimension text, key text, count bigint)
				UNION ALL ${countDimensions(people, {dimensions: names, weight: sql`clicks`})}`;
		},
	};
};

/** Changes of clicks are noted in the transaction of the caller, and reach ClickHouse before the next reader does. */
const statements: ClickStore['statements'] = {
	// The tallies move the click from the platform that it was counted with, which is none, to the one it has now.
	addSignals: (timezone) => sql`, noted AS (
			INSERT INTO click_changes (kind, organization_id, link_id, click_id, clicked_at, timezone, platform)
			SELECT 'signals', organization_id, link_id, click_id, created_at, ${timezone}, platform FROM updated
			WHERE ${timezone}::text IS NOT NULL OR NOT had_platform AND platform IS NOT NULL
		)
		INSERT INTO click_tallies (organization_id, link_id, start, is_person, platform, clicks)
		SELECT organization_id, link_id, date_bin('15 minutes', created_at, '2000-01-01Z'), true, counted.platform, counted.clicks
		FROM updated, LATERAL (VALUES (NULL, -1), (platform, 1)) AS counted (platform, clicks)
		WHERE NOT had_platform AND updated.platform IS NOT NULL`,
	forget: sql`INSERT INTO click_changes (kind, organization_id, link_id, click_id, clicked_at)
		SELECT 'forget', organization_id, link_id, click_id, created_at FROM own`,
	removeOrganization: (id) => sql`INSERT INTO click_changes (kind, organization_id) VALUES ('organization', ${id})`,
};

/** Raw clicks in ClickHouse (docs/operating/scaling.md). */
export const createClickHouseClicks = ({db, clickHouse, flushed}: Options): ClickStore => {
	// While ClickHouse is slow, reports hold few of the process's connections: one for changes, and those of their turns.
	const apply = inSharedTurns(() => applyChanges(db, clickHouse));
	const inTurn = createSemaphore(REPORTS_AT_ONCE);
	const current = async (containing: string[]): Promise<void> => {
		await flushed(containing);
		await apply();
	};
	return {
		reader: async (containing) => {
			const [outcome] = await Promise.allSettled([current([containing])]);
			const requireCurrent = () => {
				if (outcome?.status === 'rejected') {
					throw outcome.reason;
				}
			};
			return createReader(clickHouse, requireCurrent, inTurn);
		},
		stream: createStreamReader(clickHouse, current),
		exported: createExportedClicks(db, clickHouse, current),
		inFull: async (trx, own) => {
			const keys = await readKeys(trx, own);
			if (keys.length > 0) {
				await current([...new Set(keys.map(({organizationId}) => organizationId))]);
			}

			return fullRows(await readByKeys(clickHouse, keys));
		},
		statements,
		applyChanges: apply,
		dropOld: (trx, age) => dropOldMonths(trx, clickHouse, age),
		ping: () => clickHouse.ping(),
	};
};
