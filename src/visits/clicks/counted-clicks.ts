import {copyIn} from '../../platform/db/copy.ts';
import type {Db} from '../../platform/db/db.ts';
import {campaigns, contexts, isOfPeople} from '../visit/click-context.ts';
import {countedColumns, countedOfCampaign, countedOfContext} from './dimensions.ts';
import {cutRows} from './journal/entry.ts';
import type {Section} from './journal/section.ts';

/** The counted values of a row's texts, each followed by a tab. */
const countedOf = (texts: Record<string, string>, columns: readonly string[]): string =>
	columns.map((column) => `${texts[column] ?? '\\N'}\t`).join('');

const byId = (rows: Record<string, string>, read: (row: string) => string): Map<string, string> =>
	new Map(Object.entries(rows).map(([id, row]) => [id, read(row)]));

const NO_CAMPAIGN = countedOf({}, countedOfCampaign);

/**
 * The clicks of a batch without their matches. `counted`: whether it is a person's (1 or 0), and `countedColumns`, as
 * texts of COPY.
 */
export function* countedClicks(sections: readonly Section[]) {
	for (const section of sections) {
		const ofContext = byId(
			section.contexts,
			(row) => `${isOfPeople(row) ? 1 : 0}\t${countedOf(contexts.textsOf(row), countedOfContext)}`,
		);
		const ofCampaign = byId(section.campaigns, (row) => countedOf(campaigns.textsOf(row), countedOfCampaign));
		for (const click of cutRows(section.clicks.toString())) {
			const campaign = ofCampaign.get(click.campaignId) ?? NO_CAMPAIGN;
			yield {...click, counted: `${ofContext.get(click.contextId)}${campaign}${click.referrerHost}`};
		}
	}
}

/** The quarter of an hour of a time such as 2026-03-10T12:07:30.000Z. */
const quarterOf = (time: string): string =>
	`${time.slice(0, 14)}${['00', '15', '30', '45'][Math.floor(Number(time.slice(14, 16)) / 15)]}:00Z`;

/** Adds up clicks for the rollups, because PostgreSQL does not have their rows. */
export const tally = async (trx: Db, sections: readonly Section[]): Promise<void> => {
	const counts = new Map<string, number>();
	for (const {organizationId, linkId, time, counted} of countedClicks(sections)) {
		const row = `${organizationId}\t${linkId}\t${quarterOf(time)}\t${counted}`;
		counts.set(row, (counts.get(row) ?? 0) + 1);
	}

	const rows = [...counts].map(([row, count]) => `${row}\t${count}\n`).join('');
	await copyIn(
		trx,
		`COPY click_tallies (organization_id, link_id, start, is_person, ${countedColumns.join(', ')}, clicks) FROM STDIN`,
		rows,
	);
};
