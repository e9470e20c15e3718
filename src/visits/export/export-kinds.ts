import {compile} from '../../platform/db/sql.ts';
import {guardedSql} from '../../platform/formula-guard.ts';
import {clicksInFull} from '../clicks/click-sql.ts';
import {campaigns} from '../visit/click-context.ts';

/** What can be exported. */
export const exportKinds = ['clicks', 'events', 'matches'] as const;
export type ExportKind = (typeof exportKinds)[number];

/** `spreadsheet`: CSV whose cells no spreadsheet evaluates; `csv` has every value as it is, for warehouses. */
export const exportFormats = ['ndjson', 'csv', 'spreadsheet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** A column of an export: SQL over `source`; `free` text may need escapes, `plain` text never does, `raw` is JSON as it is. */
type Column = {name: string; sql: string; kind: 'free' | 'plain' | 'raw'};

type Kind = {
	source: string;
	/** When a row happened, for `since`. */
	at: string;
	/** In a fixed order; new ones are added at the end (contract/reports 7). */
	columns: readonly Column[];
};

/** UTC with milliseconds. */
const instant = (sql: string): string => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const free = (name: string, sql = name): Column => ({name, sql, kind: 'free'});
const plain = (name: string, sql = name): Column => ({name, sql, kind: 'plain'});
const raw = (name: string, sql = name): Column => ({name, sql, kind: 'raw'});

export const kinds: Record<ExportKind, Kind> = {
	clicks: {
		source: `${compile(clicksInFull).text} AS clicks`,
		at: 'occurred_at',
		columns: [
			plain('id'),
			plain('at', instant('occurred_at')),
			plain('linkId', 'link_id'),
			free('channel'),
			free('referrer', 'referrer_host'),
			free('platform'),
			free('os'),
			free('browser'),
			free('deviceModel', 'device_model'),
			free('language'),
			free('country'),
			free('botClass', 'bot_class'),
			...Object.entries(campaigns.words).flatMap(([name, column]) => (name === 'channel' ? [] : [free(name, column)])),
		],
	},
	events: {
		source: 'events',
		at: 'received_at',
		columns: [
			plain('id'),
			free('eventId', 'event_id'),
			free('eventName', 'event_name'),
			free('deviceId', 'device_id'),
			plain('linkId', 'link_id'),
			raw('properties'),
			plain('occurredAt', instant('occurred_at')),
			plain('receivedAt', instant('received_at')),
		],
	},
	matches: {
		source: 'match_attempts',
		at: 'at',
		columns: [
			plain('id'),
			plain('at', instant('at')),
			free('deviceId', 'device_id'),
			raw('matched'),
			plain('method'),
			plain('confidence'),
			raw('score'),
			plain('linkId', 'link_id'),
			plain('reason'),
		],
	},
};

/**
 * A field of CSV (RFC 4180), made by the database: NULL is empty, an empty text is `""`. A library in this process takes
 * longer for ten fields than the whole row may take.
 */
const csvField = ({sql, kind}: Column, isGuarded: boolean): string => {
	const own = `CAST(${sql} AS text)`;
	const text = isGuarded && kind === 'free' ? `(${guardedSql(own)})` : own;
	return kind !== 'plain'
		? `CASE WHEN ${sql} IS NULL THEN '' WHEN ${text} = '' OR ${text} ~ E'[",\\r\\n]' THEN '"' || replace(${text}, '"', '""') || '"' ELSE ${text} END`
		: `coalesce(${text}, '')`;
};

/** A member of a JSON object. `json_build_object` takes twice as long for the whole row. */
const jsonMember = ({name, sql, kind}: Column): string => {
	const text = `CAST(${sql} AS text)`;
	const value = {free: `CAST(to_json(${text}) AS text)`, plain: `'"' || ${text} || '"'`, raw: text}[kind];
	return `'"${name}":' || coalesce(${value}, 'null')`;
};

/** SQL of a row as a line of a format, without its end. */
export const lineOf = ({columns}: Kind, format: ExportFormat): string =>
	format === 'ndjson'
		? `'{' || ${columns.map(jsonMember).join(" || ',' || ")} || '}'`
		: `concat(${columns.map((column) => csvField(column, format === 'spreadsheet')).join(", ',', ")})`;

export const headerOf = ({columns}: Kind): string => columns.map(({name}) => name).join(',');
