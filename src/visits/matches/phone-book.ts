import {LRUCache} from 'lru-cache';
import {toColumns} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {execute, literal, prepared, run, sql} from '../../platform/db/sql.ts';
import {type DeviceFields, signalsOfApp} from './match-signals.ts';
import type {Neighbours, PhoneCount} from './phone-comparison.ts';

/** The phone of a first open. `matched`: the method, or null for a miss. `neighbours`: null without a guess. */
export type FirstPhone = DeviceFields & {
	organizationId: string;
	matched: 'token' | 'guess' | null;
	at: Date;
	neighbours: Neighbours | null;
};

/** The phones of each organization's recent first opens, which show how common a phone is. */
export type PhoneBook = {
	/** The phones of an organization, up to a minute old. */
	of(organizationId: string, now: Date): Promise<readonly PhoneCount[]>;
	/** Counts the phones of first opens, except those without a platform. */
	note(phones: readonly FirstPhone[]): Promise<void>;
};

/** Maximum phones that are stored for each organization. */
const MAX_PHONES = 300;
const FRESH_MS = 60_000;
/** Maximum organizations in memory; the least recently used one is evicted. */
const MAX_ORGANIZATIONS = 2000;

type Row = DeviceFields &
	Pick<PhoneCount, 'count' | 'byToken' | 'byGuess'> & {neighbours: number; equalNeighbours: number};

const maxPhones = literal(MAX_PHONES);

/**
 * Stores each phone in a free slot, or in a random one if all are taken. So the phones are a sample of the recent ones,
 * and writers do not contend for one row. They are written in order, so two processes cannot deadlock.
 */
const note = (rows: string) =>
	prepared(
		'count phones',
		sql`WITH made AS MATERIALIZED (
				SELECT *, row_number() OVER (PARTITION BY organization_id) - 1 AS number FROM json_to_recordset(${rows}) AS made
					(organization_id uuid, day date, platform text, os_version text, device_model text, language text, timezone text, matched text,
					neighbours smallint, equal_neighbours real)
			), taken AS MATERIALIZED (
				SELECT organization_id, (SELECT count(*) FROM counted_phones AS known WHERE known.organization_id = made.organization_id) AS count
				FROM made GROUP BY 1
			), placed AS MATERIALIZED (
				SELECT made.*, CASE WHEN count + number < ${maxPhones} THEN count + number ELSE floor(random() * ${maxPhones}) END AS slot
				FROM made JOIN taken USING (organization_id)
			)
			INSERT INTO counted_phones (organization_id, slot, day, platform, os_version, device_model, language, timezone, matched,
				neighbours, equal_neighbours)
			SELECT DISTINCT ON (organization_id, slot) organization_id, slot, day, platform, os_version, device_model, language, timezone, matched,
				neighbours, equal_neighbours
			FROM placed ORDER BY organization_id, slot
			ON CONFLICT (organization_id, slot) DO UPDATE SET day = excluded.day, platform = excluded.platform,
				os_version = excluded.os_version, device_model = excluded.device_model, language = excluded.language,
				timezone = excluded.timezone, matched = excluded.matched,
				neighbours = excluded.neighbours, equal_neighbours = excluded.equal_neighbours`,
	);

const read = async (db: Db, organizationId: string): Promise<PhoneCount[]> => {
	const rows = await run<Row>(
		db,
		prepared(
			'count phones of an organization',
			sql`SELECT platform, os_version AS "osVersion", device_model AS "deviceModel", language, timezone,
				CAST(count(*) AS integer) AS count,
				CAST(count(*) FILTER (WHERE matched = 'token') AS integer) AS "byToken",
				CAST(count(*) FILTER (WHERE matched = 'guess') AS integer) AS "byGuess",
				CAST(sum(neighbours) AS integer) AS neighbours, sum(equal_neighbours) AS "equalNeighbours"
			FROM counted_phones WHERE organization_id = ${organizationId} GROUP BY 1, 2, 3, 4, 5`,
		),
	);
	return rows.map(({count, byToken, byGuess, neighbours: seen, equalNeighbours: equal, ...phone}) => ({
		signals: signalsOfApp(phone),
		count,
		byToken,
		byGuess,
		neighbours: {seen, equal},
	}));
};

export const createPhoneBook = (db: Db): PhoneBook => {
	const known = new LRUCache<string, {readAt: number; phones: Promise<readonly PhoneCount[]>}>({
		max: MAX_ORGANIZATIONS,
	});
	return {
		of: (organizationId, now) => {
			const cached = known.get(organizationId);
			if (cached !== undefined && Math.abs(now.getTime() - cached.readAt) < FRESH_MS) {
				return cached.phones;
			}

			const phones = read(db, organizationId);
			known.set(organizationId, {readAt: now.getTime(), phones});
			phones.catch(() => known.delete(organizationId));
			return phones;
		},
		note: async (phones) => {
			const rows = phones
				.filter(({platform}) => platform != null)
				.map(({organizationId, platform, osVersion, deviceModel, language, timezone, matched, at, neighbours}) =>
					toColumns({
						...{organizationId, day: at, platform, osVersion, deviceModel, language, timezone, matched},
						neighbours: neighbours?.seen ?? 0,
						equalNeighbours: neighbours?.equal ?? 0,
					}),
				);
			if (rows.length > 0) {
				await execute(db, note(JSON.stringify(rows)));
			}
		},
	};
};
