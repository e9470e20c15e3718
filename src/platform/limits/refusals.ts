import type {Background} from '../background.ts';
import {type Clock, HOUR_MS} from '../clock.ts';
import type {Db} from '../db/db.ts';

const WRITE_MS = 5000;
/** Organizations and limits between two writes; others are refused uncounted. */
const MAX_COUNT = 1000;
const DAY_HOURS = 24;

type Count = {organizationId: string; limitName: string; refused: number};

/** Adds counts to those of the hour. Organizations are locked first, as a removal does; one that is gone is left out. */
const add = (db: Db, hour: Date, counts: Count[]): Promise<unknown> =>
	db.raw(
		`INSERT INTO limit_refusals AS known (organization_id, limit_name, hour, refused)
		SELECT organizations.id, "limitName", :hour, refused
		FROM json_to_recordset(CAST(:counts AS json)) AS one ("organizationId" uuid, "limitName" text, refused bigint)
		JOIN organizations ON organizations.id = "organizationId" ORDER BY 1, 2 FOR KEY SHARE OF organizations
		ON CONFLICT (organization_id, limit_name, hour) DO UPDATE SET refused = known.refused + excluded.refused`,
		{hour, counts: JSON.stringify(counts)},
	);

/** Which organizations were refused by limits of their keys: counted in memory, and written every few seconds. */
export const createRefusals = ({db, clock, background}: {db: Db; clock: Clock; background: Background}) => {
	const counts = new Map<string, Count>();
	let timer: NodeJS.Timeout | null = null;

	const count = (organizationId: string, limitName: string, refused: number): void => {
		const key = `${organizationId} ${limitName}`;
		const known = counts.get(key);
		if (known !== undefined) {
			known.refused += refused;
		} else if (counts.size < MAX_COUNT) {
			counts.set(key, {organizationId, limitName, refused});
		}
	};

	const write = async (): Promise<void> => {
		const written = [...counts.values()];
		counts.clear();
		try {
			if (written.length > 0) {
				await add(db, new Date(Math.floor(clock.now().getTime() / HOUR_MS) * HOUR_MS), written);
			}
		} catch (error) {
			for (const {organizationId, limitName, refused} of written) {
				count(organizationId, limitName, refused);
			}

			throw error;
		}
	};

	// One after the other, so that who waits for the last has all.
	let writing: Promise<void> = Promise.resolve();
	const settled = (): Promise<void> => {
		writing = writing.catch(() => {}).then(write);
		return writing;
	};

	return {
		note: (organizationId: string, limitName: string): void => {
			count(organizationId, limitName, 1);
			timer ??= setTimeout(() => {
				timer = null;
				background.run('record refusals by limits', settled());
			}, WRITE_MS).unref();
		},
		/** Writes the counts. */
		settled,
		/** Stops writing by itself; the caller settles. */
		close: (): void => {
			clearTimeout(timer ?? undefined);
		},
	};
};

export type Refused = {orgKey: string; plan: string | null; limitName: string; refused: number};

/** The organizations and limits with the most refusals of the last day, as the windows of its hours. */
export const listRefused = async (db: Db, now: Date, most: number): Promise<Refused[]> => {
	const {rows} = await db.raw<{rows: Refused[]}>(
		`SELECT org_key AS "orgKey", plan, limit_name AS "limitName", CAST(sum(refused) AS double precision) AS refused
		FROM limit_refusals JOIN organizations ON organizations.id = organization_id
		WHERE hour > :since GROUP BY organizations.id, limit_name ORDER BY 4 DESC, 1, 3 LIMIT :most`,
		{since: new Date(now.getTime() - DAY_HOURS * HOUR_MS), most},
	);
	return rows;
};

/** Deletes counts that are older than a day. */
export const forgetRefusals = (db: Db, now: Date): Promise<number> =>
	db('limit_refusals')
		.where('hour', '<=', new Date(now.getTime() - DAY_HOURS * HOUR_MS))
		.delete();
