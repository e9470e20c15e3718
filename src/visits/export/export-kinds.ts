import {identifier, joined, literal, type Sql, sql} from '../../platform/db/sql.ts';
import {FORMULA} from '../../platform/formula-guard.ts';
import {clicksInFull} from '../clicks/click-sql.ts';
import {campaigns} from '../visit/click-context.ts';

/** The kinds of an export. */
export const exportKinds = ['clicks', 'events', 'matches'] as const;
export type ExportKind = (typeof exportKinds)[number];

/** `spreadsheet`: CSV whose cells no spreadsheet evaluates; `csv` has every value as it is, for warehouses. */
export const exportFormats = ['ndjson', 'csv', 'spreadsheet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** A column of an export: SQL over `source`; `free` text may need escapes, `plain` text never does, `raw` is JSON as it is. */
type Column = {name: string; value: Sql; kind: 'free' | 'plain' | 'raw'};

type Kind = {
	source: Sql;
	/** When a row happened, for `since`. */
	at: Sql;
	/** In a fixed order; new ones are added at the end (contract/reports 7). */
	columns: readonly Column[];
};

/** UTC with milliseconds. */
const instant = (time: Sql): Sql => sql`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const free = (name: string, value = identifier(name)): Column => ({name, value, kind: 'free'});
const plain = (name: string, value = identifier(name)): Column => ({name, value, kind: 'plain'});
const raw = (name: string, value = identifier(name)): Column => ({name, value, kind: 'raw'});

export const kinds: Record<ExportKind, Kind> = {
	clicks: {
		source: sql`${clicksInFull} AS clicks`,
		at: sql`occurred_at`,
		columns: [
			plain('id'),
			plain('at', instant(sql`occurred_at`)),
			plain('linkId', sql`link_id`),
			free('channel'),
			free('referrer', sql`referrer_host`),
			free('platform'),
			free('os'),
			free('browser'),
			free('deviceModel', sql`device_model`),
			free('language'),
			free('country'),
			free('botClass', sql`bot_class`),
			...Object.entries(campaigns.columnsByName).flatMap(([name, column]) =>
				name === 'channel' ? [] : [free(name, identifier(column))],
			),
		],
	},
	events: {
		source: sql`events`,
		at: sql`received_at`,
		columns: [
			plain('id'),
			free('eventId', sql`event_id`),
			free('eventName', sql`event_name`),
			free('deviceId', sql`device_id`),
			plain('linkId', sql`link_id`),
			raw('properties'),
			plain('occurredAt', instant(sql`occurred_at`)),
			plain('receivedAt', instant(sql`received_at`)),
		],
	},
	matches: {
		source: sql`match_attempts`,
		at: sql`at`,
		columns: [
			plain('id'),
			plain('at', instant(sql`at`)),
			free('deviceId', sql`device_id`),
			raw('matched'),
			plain('method'),
			plain('confidence'),
			raw('score'),
			plain('linkId', sql`link_id`),
			plain('reason'),
		],
	},
};

const formula = literal(`^('|${FORMULA})`);

/** SQL of `guarded`: a cell that no spreadsheet evaluates. */
const guardedSql = (cell: Sql): Sql => sql`CASE WHEN ${cell} ~ ${formula} THEN '''' || ${cell} ELSE ${cell} END`;

/**
 * A field of CSV (RFC 4180), made by the database: NULL is empty, an empty text is `""`. A library in this process takes
 * longer for ten fields than the whole row may take.
 */
const csvField = ({value, kind}: Column, isGuarded: boolean): Sql => {
	const own = sql`CAST(${value} AS text)`;
	const text = isGuarded && kind === 'free' ? sql`(${guardedSql(own)})` : own;
	return kind !== 'plain'
		? sql`CASE WHEN ${value} IS NULL THEN '' WHEN ${text} = '' OR ${text} ~ E'[",\\r\\n]' THEN '"' || replace(${text}, '"', '""') || '"' ELSE ${text} END`
		: sql`coalesce(${text}, '')`;
};

/** A member of a JSON object. `json_build_object` takes twice as long for the whole row. */
const jsonMember = ({name, value, kind}: Column): Sql => {
	const text = sql`CAST(${value} AS text)`;
	const json = {free: sql`CAST(to_json(${text}) AS text)`, plain: sql`'"' || ${text} || '"'`, raw: text}[kind];
	return sql`${literal(`"${name}":`)} || coalesce(${json}, 'null')`;
};

/** SQL of a row as a line of a format, without its end. */
export const lineOf = ({columns}: Kind, format: ExportFormat): Sql =>
	format === 'ndjson'
		? sql`'{' || ${joined(columns.map(jsonMember), " || ',' || ")} || '}'`
		: sql`concat(${joined(
				columns.map((column) => csvField(column, format === 'spreadsheet')),
				", ',', ",
			)})`;

export const headerOf = ({columns}: Kind): string => columns.map(({name}) => name).join(',');
