import {copyIn} from '../../../platform/db/copy-in.ts';
import type {Db} from '../../../platform/db/db.ts';
import {isOfPeople} from '../click-context.ts';
import {cutRows} from './entry.ts';
import type {Section} from './section.ts';

/** The values of a context row that reports count. */
const countedOf = (row: string): string => {
	const [, platform, , , , , , , country] = row.split('\t');
	return `${isOfPeople(row) ? 1 : 0}\t${platform}\t${country}`;
};

/**
 * The clicks of a batch without their matches. `counted`: whether it is a person's (1 or 0), platform, country, channel
 * and referrer, in the form of COPY.
 */
export function* countedClicks(sections: readonly Section[]) {
	for (const {clicks, contexts} of sections) {
		const known = new Map(Object.entries(contexts).map(([id, row]) => [id, countedOf(row)]));
		for (const click of cutRows(clicks.toString())) {
			yield {...click, counted: `${known.get(click.contextId)}${click.rest}`};
		}
	}
}

/** The quarter of an hour that a time such as 2026-03-10T12:07:30.000Z is in. */
const quarterOf = (time: string): string =>
	`${time.slice(0, 14)}${['00', '15', '30', '45'][Math.floor(Number(time.slice(14, 16)) / 15)]}:00Z`;

/** Adds up clicks for the rollups, where PostgreSQL does not have their rows. */
export const tally = async (trx: Db, sections: readonly Section[]): Promise<void> => {
	const counts = new Map<string, number>();
	for (const {organizationId, linkId, time, counted} of countedClicks(sections)) {
		const row = `${organizationId}\t${linkId}\t${quarterOf(time)}\t${counted}`;
		counts.set(row, (counts.get(row) ?? 0) + 1);
	}

	const rows = [...counts].map(([row, count]) => `${row}\t${count}\n`).join('');
	await copyIn(
		trx,
		`COPY click_tallies (organization_id, link_id, start, is_person, platform, country, channel, referrer_host, clicks)
			FROM STDIN`,
		rows,
	);
};
