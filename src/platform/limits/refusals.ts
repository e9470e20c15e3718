import type {Background} from '../background.ts';
import {type Clock, HOUR_MS} from '../clock.ts';
import type {Db} from '../db/db.ts';
import {execute, run, sql} from '../db/sql.ts';
import {createLateWrites} from '../late-writes.ts';

const WRITE_MS = 5000;
/** Maximum organizations and limits between two writes; refusals of others are not counted. */
const MAX_COUNT = 1000;
const DAY_HOURS = 24;

type Count = {organizationId: string; limitName: string; refused: number};

/** Adds counts to those of the hour. Locks organizations first, as a removal does; deleted ones are omitted. */
const add = (db: Db, hour: Date, counts: Count[]): Promise<unknown> =>
	execute(
		db,
		sql`INSERT INTO limit_refusals AS known (organization_id, limit_name, hour, refused)
		SELECT organizations.id, "limitName", ${hour}::timestamptz, refused
		FROM json_to_recordset(${JSON.stringify(counts)}::json) AS one ("organizationId" uuid, "limitName" text, refused bigint)
		JOIN organizations ON organizations.id = "organizationId" ORDER BY 1, 2 FOR KEY SHARE OF organizations
		ON CONFLICT (organization_id, limit_name, hour) DO UPDATE SET refused = known.refused + excluded.refused`,
	);

/** Counts refusals by limits of keys per organization: in memory, and written every few seconds. */
export const createRefusals = ({db, clock, background}: {db: Db; clock: Clock; background: Background}) => {
	const counts = new Map<string, Count>();

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

	const {wake, ...writes} = createLateWrites(background, 'record refusals by limits', write);
	return {
		note: (organizationId: string, limitName: string): void => {
			count(organizationId, limitName, 1);
			wake(WRITE_MS);
		},
		...writes,
	};
};

export type RefusalCount = {orgKey: string; plan: string | null; limitName: string; refused: number};

/** The organizations and limits with the highest counts of refusals in the last day's hours. */
export const listRefused = (db: Db, now: Date, max: number): Promise<RefusalCount[]> =>
	run(
		db,
		sql`SELECT org_key AS "orgKey", plan, limit_name AS "limitName", sum(refused)::double precision AS refused
		FROM limit_refusals JOIN organizations ON organizations.id = organization_id
		WHERE hour > ${new Date(now.getTime() - DAY_HOURS * HOUR_MS)}
		GROUP BY organizations.id, limit_name ORDER BY 4 DESC, 1, 3 LIMIT ${max}`,
	);
