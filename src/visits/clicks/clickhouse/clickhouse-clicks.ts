import {DAY_MS} from '../../../platform/clock.ts';
import {type Db, inTransaction} from '../../../platform/db/db.ts';
import {inSharedTurns} from '../../../platform/db/feed/shared-turns.ts';
import {createTurns, type Turns} from '../../../platform/semaphore.ts';
import type {Rows} from '../click-context.ts';
import {type ClickReader, type ClickStore, EXPORT_CURSOR_DAYS} from '../click-store.ts';
import {clickDimensions} from '../dimensions.ts';
import {dropMonths, keepCounts, type Month, monthsOf} from '../drop-old-clicks.ts';
import {countDimensions} from '../rollups/count-dimensions.ts';
import type {CoverName} from '../rollups/rows-beside-rollups.ts';
import type {Range, Scope} from '../stats/stats-bounds.ts';
import {applyChanges} from './changes.ts';
import {occurredWithin, selectDimensions} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';
import {createExportedClicks} from './exported-clicks.ts';
import {fullRows, readByKeys, readKeys} from './stored-clicks.ts';
import {createStreamReader} from './stream.ts';

const REPORTS_AT_ONCE = 3;

type Options = {
	db: Db;
	clickHouse: ClickHouse;
	/** Resolves when the clicks of this machine that mention one of the texts are in ClickHouse. */
	flushed: (mentioned: string[]) => Promise<void>;
};

/** Microseconds of a quarter of an hour, which every time zone's hours, days and months are made of. */
const QUARTER = 900_000_000;

/** A list must not be empty. */
const NO_LINK = '00000000-0000-0000-0000-000000000000';

/** The parts of a range outside its rollups. Those inside have tallies for what they lack. */
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

/** SELECTs of ClickHouse's counts, which PostgreSQL adds to its own. */
export const createReader = (
	clickHouse: ClickHouse,
	/** Throws if clicks of this machine could not be brought to ClickHouse: then what it has must not be reported. */
	requireCurrent: () => void,
	inTurn: Turns,
): ClickReader => {
	const select = async (parts: Range[], sql: string): Promise<unknown[]> => {
		if (parts.length === 0) {
			return [];
		}

		requireCurrent();
		return clickHouse.select(sql);
	};
	const merged = (cover: CoverName, rows: unknown[], columns: string, stored: string, tallied: string): Rows => ({
		sql: `SELECT ${stored} FROM json_to_recordset(CAST(:${cover}Stored AS json)) AS stored (${columns})
			UNION ALL ${tallied}`,
		bindings: {[`${cover}Stored`]: JSON.stringify(rows)},
	});
	const tallies = (cover: CoverName, scope: Scope, condition: string): string =>
		`click_tallies WHERE organization_id = :organizationId AND ${condition}
			AND start >= :${cover}From AND start < :${cover}To${scope.linkIds === null ? '' : ' AND link_id = ANY(CAST(:linkIds AS uuid[]))'}`;

	return {
		inTurn,
		shared: () => null,
		counts: async (_, {scope, range, cover}) => {
			const parts = partsOf(range, cover);
			const rows = await select(
				parts,
				`SELECT intDiv(occurred_at, ${QUARTER}) AS quarter, sum(is_person) AS people, count() AS visits
					FROM clicks FINAL WHERE ${condition(scope, parts)} GROUP BY quarter`,
			);
			return merged(
				'quarters',
				rows,
				'quarter bigint, people bigint, visits bigint',
				'to_timestamp(quarter * 900) AS at, people AS clicks, visits - people AS crawler_views',
				`SELECT start, CASE WHEN is_person THEN clicks ELSE 0 END, CASE WHEN is_person THEN 0 ELSE clicks END
					FROM ${tallies('quarters', scope, 'true')}`,
			);
		},
		dimensions: async (_, {scope, range, cover, by}) => {
			const names = clickDimensions.filter((name) => by.includes(name));
			const parts = names.length === 0 ? [] : partsOf(range, cover);
			const rows = await select(parts, selectDimensions(condition(scope, parts), names));
			return merged(
				'spans',
				rows,
				'dimension text, key text, count bigint',
				'dimension, key, count',
				countDimensions(`(SELECT * FROM ${tallies('spans', scope, 'is_person')}) AS people`, {
					dimensions: names,
					weight: 'clicks',
				}),
			);
		},
	};
};

/** The months that ClickHouse has clicks of, oldest first; `partition` such as 202603. */
export const listMonths = async (clickHouse: ClickHouse): Promise<Month[]> =>
	monthsOf(
		await clickHouse.select<{partition: string}>(
			"SELECT DISTINCT partition FROM system.parts WHERE active AND database = currentDatabase() AND table = 'clicks' ORDER BY partition",
		),
	);

/** People's clicks of a day by hour, dimension and key, for its rollups. */
const hoursOf = async (
	clickHouse: ClickHouse,
	{organizationId, day}: {organizationId: string; day: Date},
): Promise<Rows> => {
	const condition = `organization_id = ${literal(organizationId)} AND ${occurredWithin(day, new Date(day.getTime() + DAY_MS))}`;
	const rows = await clickHouse.select(selectDimensions(condition, clickDimensions, true));
	return {
		sql: `SELECT to_timestamp(hour * 3600) AS hour, dimension, key, count
			FROM json_to_recordset(CAST(:stored AS json)) AS stored (hour bigint, dimension text, key text, count bigint)`,
		bindings: {stored: JSON.stringify(rows)},
	};
};

/** Batches are known for as long as a cursor of an export is good, and for a day more (contract/reports 8). */
const BATCH_DAYS = EXPORT_CURSOR_DAYS + 1;

/** Drops the clicks of old months, and forgets batches that no cursor asks for. */
const dropOldMonths = async (db: Db, clickHouse: ClickHouse, age: {now: Date; days: number}) => {
	await db('click_batches').whereRaw("stored_at < now() - interval '1 day' * ?", [BATCH_DAYS]).delete();
	return dropMonths(db, age, await listMonths(clickHouse), async (month) => {
		const state = await inTransaction(db, (trx) => keepCounts(trx, month, (day) => hoursOf(clickHouse, day)));
		if (state === null) {
			return 'uncounted';
		}

		await clickHouse.run(`ALTER TABLE clicks DROP PARTITION ${literal(Number(month.partition))}`);
		return null;
	});
};

/** Changes of clicks are noted in the transaction of the caller, and reach ClickHouse before the next reader does. */
const statements: ClickStore['statements'] = {
	// The tallies move the click from the platform that it was counted with, which is none, to the one it has now.
	addSignals: `, noted AS (
			INSERT INTO click_changes (kind, organization_id, link_id, click_id, clicked_at, timezone, platform)
			SELECT 'signals', organization_id, link_id, click_id, created_at, :timezone, platform FROM updated
			WHERE CAST(:timezone AS text) IS NOT NULL OR NOT had_platform AND platform IS NOT NULL
		)
		INSERT INTO click_tallies (organization_id, link_id, start, is_person, platform, clicks)
		SELECT organization_id, link_id, date_bin('15 minutes', created_at, '2000-01-01Z'), true, counted.platform, counted.clicks
		FROM updated, LATERAL (VALUES (NULL, -1), (platform, 1)) AS counted (platform, clicks)
		WHERE NOT had_platform AND updated.platform IS NOT NULL`,
	forget: `INSERT INTO click_changes (kind, organization_id, link_id, click_id, clicked_at)
		SELECT 'forget', organization_id, link_id, click_id, created_at FROM own`,
	removeOrganization: "INSERT INTO click_changes (kind, organization_id) VALUES ('organization', :id)",
};

/** Raw clicks in ClickHouse (docs/operating/scaling.md). */
export const createClickHouseClicks = ({db, clickHouse, flushed}: Options): ClickStore => {
	// While ClickHouse is slow, reports hold few of the process's connections: one for changes, and those of their turns.
	const apply = inSharedTurns(() => applyChanges(db, clickHouse));
	const inTurn = createTurns(REPORTS_AT_ONCE);
	const current = async (mentioned: string[]): Promise<void> => {
		await flushed(mentioned);
		await apply();
	};
	return {
		reader: async (mentioned) => {
			const [outcome] = await Promise.allSettled([current([mentioned])]);
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
