import {HOUR_MS} from '../../platform/clock.ts';
import {copyText} from '../../platform/db/copy-in.ts';
import type {OpenMatch} from './open-match.ts';

/** The effect of a row of an open match: opens a match, without a query or with one (one column more), or continues the visit's. */
export const matchParts = ['opened', 'queried', 'returning'] as const;

export type MatchPart = (typeof matchParts)[number];

/** Fields from a visit's headers. A later visit without some of them keeps the page's signals. */
export const signalColumns = [
	'platform',
	'os_major',
	'os_minor',
	'os_patch',
	'os_precision',
	'device_model',
	'language',
	'timezone',
	'browser',
] as const;

export const matchColumns = [
	'id',
	'organization_id',
	'link_id',
	'visitor',
	...signalColumns,
	'click_id',
	'ip_key',
	'net_key',
	'created_at',
	'expires_at',
	'campaign_id',
	'country',
] as const;

/** The columns of a match whose visit had a query. */
export const queriedColumns = [...matchColumns, 'query'] as const;

const number = (value: number | null | undefined): string => (value == null ? '\\N' : String(value));

/** Each visitor's signals as COPY text, in the order of `signalColumns`. Visitors with equal signals share an object. */
const encodedSignals = new WeakMap<OpenMatch['signals'], string>();

const signalsText = (signals: OpenMatch['signals']): string => {
	const known = encodedSignals.get(signals);
	if (known !== undefined) {
		return known;
	}

	const {platform, osVersion, deviceModel, language, timezone, browser} = signals;
	const text = `${copyText(platform)}\t${number(osVersion?.major)}\t${number(osVersion?.minor)}\t${number(osVersion?.patch)}\t${osVersion?.precision ?? '\\N'}\t${copyText(deviceModel)}\t${copyText(language)}\t${copyText(timezone)}\t${copyText(browser)}`;
	encodedSignals.set(signals, text);
	return text;
};

type ClickOfMatch = {
	id: string;
	organizationId: string;
	linkId: string;
	at: Date;
	/** `at` as text. */
	time: string;
	campaignId: string;
	country: string | null;
};

/** The row of a click's open match, in the order of `queriedColumns`. A new match has the click's id, which its token encodes. */
export const encodeMatch = (
	{windowHours, network, signals, visitor, query}: OpenMatch,
	{id, organizationId, linkId, at, time, campaignId, country}: ClickOfMatch,
): {match: string; part: MatchPart} => {
	const expiresAt = new Date(at.getTime() + windowHours * HOUR_MS).toISOString();
	return {
		part: visitor?.isReturning ? 'returning' : query ? 'queried' : 'opened',
		match: `${id}\t${organizationId}\t${linkId}\t${visitor === null ? '\\N' : `\\\\x${visitor.hash}`}\t${signalsText(signals)}\t${id}\t\\\\x${network.ipKey}\t\\\\x${network.netKey}\t${time}\t${expiresAt}\t${campaignId}\t${copyText(country)}${query ? `\t${copyText(JSON.stringify(query))}` : ''}\n`,
	};
};

/** The values of a row of an open match by their columns, as texts of COPY. A row without a query has none for it. */
export const matchTexts = (row: string): Partial<Record<(typeof queriedColumns)[number], string>> => {
	const texts = row.split('\t');
	return Object.fromEntries(queriedColumns.slice(0, texts.length).map((column, index) => [column, texts[index]]));
};
