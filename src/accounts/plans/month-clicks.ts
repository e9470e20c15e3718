import type {Db} from '../../platform/db/db.ts';

/** People's clicks of the organization in the calendar month (UTC) of `now`. */
export const countMonthClicks = async (db: Db, organizationId: string, now: Date): Promise<number> => {
	const [row] = (await db('click_counts').where({
		organization_id: organizationId,
		month: `${now.toISOString().slice(0, 7)}-01`,
	})) as Array<{clicks: string}>;
	return Number(row?.clicks ?? 0);
};
