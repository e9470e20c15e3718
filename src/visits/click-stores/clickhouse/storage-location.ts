import {ConfigError} from '../../../platform/config/config.ts';
import type {Db} from '../../../platform/db/db.ts';
import {createLinkIndex, dropLinkIndex} from '../../matches/match-clicks.ts';

const NAME = 'clicks';

/** Tables used only if clicks are stored in ClickHouse; without it their rows are meaningless. */
export const clickHouseTables = ['click_tallies', 'click_batches', 'click_changes'] as const;

/** Whether the rows of clicks are in ClickHouse, as recorded by this installation. */
export const areClicksInClickHouse = async (db: Db): Promise<boolean> =>
	(await db('settings').where({name: NAME}).first()) !== undefined;

/** Records that the rows of clicks are in ClickHouse from now on, or in PostgreSQL again. */
export const recordStore = async (trx: Db, place: 'clickhouse' | 'postgres'): Promise<void> => {
	if (place === 'clickhouse') {
		await trx('settings')
			.insert({name: NAME, value: JSON.stringify({place})})
			.onConflict('name')
			.ignore();
		// In PostgreSQL, matches of a deleted link are found by its clicks.
		await createLinkIndex(trx);
	} else {
		await trx('settings').where({name: NAME}).delete();
		for (const table of clickHouseTables) {
			await trx(table).delete();
		}

		await trx('click_journals').where({sink: 'clickHouse'}).delete();

		await dropLinkIndex(trx);
	}
};

/**
 * Refuses a start that would write clicks to another store than the one with the existing clicks. An installation without
 * clicks begins in the store of CLICKS_URL.
 * @throws ConfigError.
 */
export const requireSameStore = async (db: Db, clicksUrl: string | null): Promise<void> => {
	const isInClickHouse = await areClicksInClickHouse(db);
	if (clicksUrl === null && isInClickHouse) {
		throw new ConfigError([
			'CLICKS_URL must be set: the clicks are in ClickHouse. oplink clicks migrate postgres brings them back',
		]);
	}

	if (clicksUrl !== null && !isInClickHouse) {
		if ((await db('clicks').first('id')) !== undefined) {
			throw new ConfigError([
				'CLICKS_URL is set, but the clicks are in PostgreSQL: stop every server and run oplink clicks migrate clickhouse',
			]);
		}

		await recordStore(db, 'clickhouse');
	}
};
