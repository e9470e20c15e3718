import {hash} from 'node:crypto';
import {copyText, readCopyText} from '../../platform/db/copy-in.ts';
import type {Db} from '../../platform/db/db.ts';
import {type Prepared, runPrepared} from '../../platform/db/prepared.ts';

/** The properties of a click that many clicks of a month share, and their columns in `click_contexts`. */
const words = {
	platform: 'platform',
	os: 'os',
	osVersion: 'os_version',
	browser: 'browser',
	deviceModel: 'device_model',
	language: 'language',
	timezone: 'timezone',
	country: 'country',
	/** The kind of crawler; null for a person. */
	botClass: 'bot_class',
} as const;

export type ClickContext = Record<keyof typeof words, string | null>;

/** Columns of `click_contexts` after its id. */
const contextColumns = ['month', ...Object.values(words)] as const;

/**
 * A row of COPY for `click_contexts` without its id: the month of the click and its properties. Clicks with equal
 * contexts share one row, because the id is derived from it.
 * @param month such as 2026-03 (UTC).
 */
export const contextRow = (month: string, context: ClickContext): string =>
	[`${month}-01`, ...(Object.keys(words) as Array<keyof ClickContext>).map((name) => copyText(context[name]))].join(
		'\t',
	);

/**
 * The id of a context row, computed as PostgreSQL's `click_context_id` does: 64 bits of its SHA-256, as a decimal
 * number.
 */
export const contextIdOf = (row: string): string =>
	BigInt.asIntN(64, BigInt(`0x${hash('sha256', row, 'hex').slice(0, 16)}`)).toString();

const known = new WeakMap<ClickContext, {month: string; row: string; id: string}>();

/** The row of a click's context, and its id. */
export const keptContext = (month: string, context: ClickContext) => {
	const found = known.get(context);
	if (found?.month === month) {
		return found;
	}

	const row = contextRow(month, context);
	const kept = {month, row, id: contextIdOf(row)};
	known.set(context, kept);
	return kept;
};

/** Whether a context row belongs to people's clicks, which count, and not to a crawler's. */
export const isOfPeople = (row: string): boolean => row.endsWith('\t\\N');

const keep: Prepared = {
	name: 'keep contexts of clicks',
	text: `INSERT INTO click_contexts (id, ${contextColumns.join(', ')}) SELECT id, ${contextColumns.join(', ')}
		FROM json_populate_recordset(CAST(NULL AS click_contexts), $1::json) ON CONFLICT DO NOTHING`,
};

/** Keeps contexts that are not there yet. @param contexts ids, and rows of COPY without them (`contextRow`). */
export const keepContexts = async (trx: Db, contexts: Array<[id: string, row: string]>): Promise<void> => {
	// In one order everywhere, so that no two transactions wait for each other.
	const sorted = contexts.toSorted(([one], [other]) => (one < other ? -1 : 1));
	const rows = sorted.map(([id, row]) => {
		const values = row.split('\t').map((value, index) => [contextColumns[index], readCopyText(value)]);
		return {id, ...Object.fromEntries(values)};
	});
	await runPrepared(trx, keep, [JSON.stringify(rows)]);
};

/** A SELECT or an item of a FROM, and the values that it binds. */
export type Rows = {sql: string; bindings: Record<string, unknown>};

/** Clicks joined with their contexts, for a FROM: all columns of `clicks` and of `click_contexts`. */
export const clicksInFull = `(SELECT clicks.*, ${Object.values(words)
	.map((word) => `click_contexts.${word}`)
	.join(', ')}
	FROM clicks LEFT JOIN click_contexts ON click_contexts.id = clicks.context_id)`;
