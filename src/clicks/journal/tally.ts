import {copyIn} from '../../db/copy-in.ts';
import type {Db} from '../../db/db.ts';
import {isOfPeople} from '../click-context.ts';
import type {Entry} from './entry.ts';
import {entriesOf, type Section} from './section.ts';

const QUARTER_MS = 15 * 60_000;

/** The row of `click_tallies` that counts a click, without the count. Its values stay in the form of COPY. */
const rowOf = ({click, context, organizationId, linkId}: Entry): string => {
	const [, time = '', , , , channel, referrer] = click.slice(0, -1).split('\t');
	const [, platform, , , , , , , country] = context.split('\t');
	const start = new Date(Math.floor(Date.parse(time) / QUARTER_MS) * QUARTER_MS).toISOString();
	const isPerson = isOfPeople(context) ? 't' : 'f';
	return `${organizationId}\t${linkId}\t${start}\t${isPerson}\t${platform}\t${country}\t${channel}\t${referrer}`;
};

/** Adds up clicks for the rollups, where PostgreSQL does not have their rows. */
export const tally = async (trx: Db, sections: readonly Section[]): Promise<void> => {
	const counts = new Map<string, number>();
	for (const entry of sections.flatMap(entriesOf)) {
		const row = rowOf(entry);
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
