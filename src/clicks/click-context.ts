import {hash} from 'node:crypto';
import {copyText, readCopyText} from '../db/copy-in.ts';
import {memoize} from '../memoize.ts';

/** The properties of a click that many clicks of a month share, such as browser and country. */
export type ClickContext = {
	platform: string | null;
	os: string | null;
	osVersion: string | null;
	browser: string | null;
	deviceModel: string | null;
	language: string | null;
	timezone: string | null;
	country: string | null;
	/** The kind of crawler; null for a person. */
	botClass: string | null;
};

const words = [
	'platform',
	'os',
	'os_version',
	'browser',
	'device_model',
	'language',
	'timezone',
	'country',
	'bot_class',
] as const;

/** Columns of `click_contexts` after its id. */
export const contextColumns = ['month', ...words] as const;

/**
 * A row of COPY for `click_contexts` without its id: the month of the click and its properties. Clicks with equal
 * contexts share one row, because the id is derived from it.
 * @param month such as 2026-03 (UTC).
 */
export const contextRow = (month: string, context: ClickContext): string => {
	const {platform, os, osVersion, browser, deviceModel, language, timezone, country, botClass} = context;
	return `${month}-01\t${copyText(platform)}\t${copyText(os)}\t${copyText(osVersion)}\t${copyText(browser)}\t${copyText(deviceModel)}\t${copyText(language)}\t${copyText(timezone)}\t${copyText(country)}\t${copyText(botClass)}`;
};

/**
 * The id of a context row, computed as PostgreSQL's `click_context_id` does: 64 bits of its SHA-256, as a decimal
 * number.
 */
export const contextIdOf = memoize(
	(row) => BigInt.asIntN(64, BigInt(`0x${hash('sha256', row, 'hex').slice(0, 16)}`)).toString(),
	5000,
);

/** Whether a context row belongs to people's clicks, which count, and not to a crawler's. */
export const isOfPeople = (row: string): boolean => row.endsWith('\t\\N');

/** The values of context rows, one list per column. */
export const contextValues = (rows: readonly string[]): Array<Array<string | null>> => {
	const values = rows.map((row) => row.split('\t').map(readCopyText));
	return contextColumns.map((_, column) => values.map((row) => row[column] ?? null));
};

/** Clicks joined with their contexts, for a FROM: all columns of `clicks` and of `click_contexts`. */
export const clicksInFull = `(SELECT clicks.*, ${words.map((word) => `click_contexts.${word}`).join(', ')}
	FROM clicks LEFT JOIN click_contexts ON click_contexts.id = clicks.context_id)`;
