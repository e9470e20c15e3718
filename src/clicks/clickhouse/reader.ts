import type {Turns} from '../../turns.ts';
import type {Rows} from '../click-context.ts';
import type {ClickReader} from '../click-store.ts';
import {countDimensions} from '../count-dimensions.ts';
import type {Range, Scope} from '../stats-bounds.ts';
import {occurredWithin, selectDimensions} from './click-table.ts';
import {type ClickHouse, literal} from './clickhouse.ts';

/** Microseconds of a quarter of an hour, which every time zone's hours, days and months are made of. */
const QUARTER = 900_000_000;

/** The parts of a range outside its rollups. Those inside have tallies for what they lack. */
const partsOf = (range: Range, cover: Range): Range[] =>
	(cover.from < cover.to
		? [
				{from: range.from, to: cover.from},
				{from: cover.to, to: range.to},
			]
		: [range]
	).filter(({from, to}) => from < to);

const condition = ({organizationId, linkId}: Scope, parts: Range[]): string => {
	const owner = `organization_id = ${literal(organizationId)}${linkId === null ? '' : ` AND link_id = ${literal(linkId)}`}`;
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
	const merged = (rows: unknown[], columns: string, stored: string, tallied: string): Rows => ({
		sql: `SELECT ${stored} FROM json_to_recordset(CAST(:stored AS json)) AS stored (${columns}) UNION ALL ${tallied}`,
		bindings: {stored: JSON.stringify(rows)},
	});
	const tallies = (scope: Scope, condition: string): string =>
		`click_tallies WHERE organization_id = :organizationId AND ${condition}
			AND start >= :coverFrom AND start < :coverTo${scope.linkId === null ? '' : ' AND link_id = :linkId'}`;

	return {
		inTurn,
		counts: async (_, {scope, range, cover}) => {
			const parts = partsOf(range, cover);
			const rows = await select(
				parts,
				`SELECT intDiv(occurred_at, ${QUARTER}) AS quarter, sum(is_person) AS people, count() AS visits
					FROM clicks FINAL WHERE ${condition(scope, parts)} GROUP BY quarter`,
			);
			return merged(
				rows,
				'quarter bigint, people bigint, visits bigint',
				'to_timestamp(quarter * 900) AS at, people AS clicks, visits - people AS crawler_views',
				`SELECT start, CASE WHEN is_person THEN clicks ELSE 0 END, CASE WHEN is_person THEN 0 ELSE clicks END
					FROM ${tallies(scope, 'true')}`,
			);
		},
		dimensions: async (_, {scope, range, cover}) => {
			const parts = partsOf(range, cover);
			const rows = await select(parts, selectDimensions(condition(scope, parts)));
			return merged(
				rows,
				'dimension text, key text, count bigint',
				'dimension, key, count',
				countDimensions(`(SELECT * FROM ${tallies(scope, 'is_person')}) AS people`, [], 'clicks'),
			);
		},
	};
};
