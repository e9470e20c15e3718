import type {Db} from '../../db/db.ts';
import {inSharedTurns} from '../../db/shared-turns.ts';
import {createTurns} from '../../turns.ts';
import type {ClickStore} from '../click-store.ts';
import {applyChanges} from './changes.ts';
import type {ClickHouse} from './clickhouse.ts';
import {dropOldMonths} from './drop-months.ts';
import {createReader} from './reader.ts';
import {fullRows, readByKeys, readKeys} from './stored-clicks.ts';
import {createStreamReader} from './stream.ts';

const REPORTS_AT_ONCE = 3;

type Options = {
	db: Db;
	clickHouse: ClickHouse;
	/** Resolves when the clicks of this machine that mention one of the texts are in ClickHouse. */
	settled: (...mentioned: string[]) => Promise<void>;
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

/** Raw clicks in ClickHouse (docs/clickhouse.md). */
export const createClickHouseClicks = ({db, clickHouse, settled}: Options): ClickStore => {
	// While ClickHouse is slow, reports hold few of the process's connections: one for changes, and those of their turns.
	const apply = inSharedTurns(() => applyChanges(db, clickHouse));
	const inTurn = createTurns(REPORTS_AT_ONCE);
	const current = async (mentioned: string[]): Promise<void> => {
		await settled(...mentioned);
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
