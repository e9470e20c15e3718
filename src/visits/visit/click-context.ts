import {hash} from 'node:crypto';
import {copyText} from '../../platform/db/copy.ts';

/**
 * Values that many clicks of a month share, in a table of their own: a click has the id of a row. Clicks with equal
 * values share one row, because the id is derived from it.
 * @param columnsByName the columns after `id` and `month`, by the names of the values.
 */
const createSharedValues = <const ByName extends Readonly<Record<string, string>>>(
	table: string,
	columnsByName: ByName,
) => {
	type Values = Record<keyof ByName, string | null>;
	const names = Object.keys(columnsByName) as Array<keyof ByName>;
	const columns: string[] = Object.values(columnsByName);
	const known = new WeakMap<Values, {month: string; row: string; id: string}>();

	/**
	 * A row of COPY without its id: the month of the click and its values.
	 * @param month such as 2026-03 (UTC).
	 */
	const rowOf = (month: string, values: Values): string =>
		[`${month}-01`, ...names.map((name) => copyText(values[name]))].join('\t');

	/** The id of a row, computed as PostgreSQL's `click_context_id` does: 64 bits of its SHA-256, as a decimal number. */
	const idOf = (row: string): string =>
		BigInt.asIntN(64, BigInt(`0x${hash('sha256', row, 'hex').slice(0, 16)}`)).toString();

	return {
		table,
		columnsByName,
		columns,
		rowOf,
		idOf,
		/** The values of a row by their columns, as texts of COPY. */
		textsOf: (row: string): Record<string, string> => {
			const texts = row.split('\t');
			return Object.fromEntries(
				['month', ...columns].slice(0, texts.length).map((column, index) => [column, texts[index] ?? '']),
			);
		},
		/** The row of a click's values, and its id, computed once for each object. */
		identified: (month: string, values: Values) => {
			const found = known.get(values);
			if (found?.month === month) {
				return found;
			}

			const row = rowOf(month, values);
			const identified = {month, row, id: idOf(row)};
			known.set(values, identified);
			return identified;
		},
	};
};

/** The properties of a visitor that many visitors share. */
export const contexts = createSharedValues('click_contexts', {
	platform: 'platform',
	os: 'os',
	osVersion: 'os_version',
	browser: 'browser',
	deviceModel: 'device_model',
	language: 'language',
	timezone: 'timezone',
	country: 'country',
	/** The host of the visit, without its port. */
	host: 'host',
	/** The kind of crawler; null for a person. */
	botClass: 'bot_class',
});

export type ClickContext = Parameters<typeof contexts.rowOf>[1];

/** The origin of a click: the link's channel, and the UTM values of the visit (default: of the link). */
export const campaigns = createSharedValues('click_campaigns', {
	channel: 'channel',
	utmSource: 'utm_source',
	utmMedium: 'utm_medium',
	utmCampaign: 'utm_campaign',
	utmContent: 'utm_content',
	utmTerm: 'utm_term',
});

/** Null: the click has none of these values. */
export type ClickCampaign = Parameters<typeof campaigns.rowOf>[1] | null;

/** Whether a context row belongs to people's clicks, which count, and not to a crawler's: its last column is null. */
export const isOfPeople = (row: string): boolean => row.endsWith('\t\\N');
