import {hash, randomUUID} from 'node:crypto';
import {HOUR_MS} from '../../platform/clock.ts';
import {copyText} from '../../platform/db/copy.ts';
import {ALPHANUMERIC, randomAlphanumeric} from '../../platform/text.ts';
import type {RawSignals} from './match-signals.ts';
import type {NetworkKeyTexts} from './network-keys.ts';

declare const isMatchToken: unique symbol;

/** A text in the form of a match token. Only the minting and the checking functions produce this type. */
export type MatchToken = string & {readonly [isMatchToken]: true};

/** The data that lets an app's first open claim a click. */
export type OpenMatch = {
	/** The one-time token that the page carries. */
	token: MatchToken;
	windowHours: number;
	network: NetworkKeyTexts;
	signals: RawSignals & {browser: string | null};
	/**
	 * The visitor, by the cookie's time and hash in hexadecimal; null without a cookie. `isReturning`: the browser sent
	 * the cookie.
	 */
	visitor: {hash: string; isReturning: boolean} | null;
	/** The query of the visit; null if there is none. */
	query: Record<string, string> | null;
};

/** Characters of a token or cookie that encode its time: milliseconds since 1970 in base 62, until the year 2081. */
const TIME_DIGITS = 7;
const PREFIX = 'opl_';
const VARIANT = '89ab';

/** The latest time as its digits and as those of an id: the tokens and cookies of a millisecond share them. */
const latest = {at: Number.NaN, digits: '', hex: ''};

const hexOf = (at: number): string => at.toString(16).padStart(12, '0');

const timeDigits = (at: number): string => {
	if (latest.at !== at) {
		let digits = '';
		for (let rest = at; digits.length < TIME_DIGITS; rest = Math.floor(rest / ALPHANUMERIC.length)) {
			digits = ALPHANUMERIC.charAt(rest % ALPHANUMERIC.length) + digits;
		}

		Object.assign(latest, {at, digits, hex: hexOf(at)});
	}

	return latest.digits;
};

/** A text of base 62 that begins with its time; the rest is random. */
export const mintTimedText = (at: Date, length: number): string =>
	timeDigits(at.getTime()) + randomAlphanumeric(length - TIME_DIGITS);

/** The time that a text begins with, as the 12 hexadecimal digits that ids of clicks begin with. */
export const timeOfText = (text: string): string => {
	const digits = text.slice(0, TIME_DIGITS);
	if (digits === latest.digits) {
		return latest.hex;
	}

	let at = 0;
	for (const digit of digits) {
		at = at * ALPHANUMERIC.length + ALPHANUMERIC.indexOf(digit);
	}

	return hexOf(at);
};

/**
 * A new match token: `opl_` and 32 of `[A-Za-z0-9]` (contract/match 12), 7 of them its time, 148 bits of the rest
 * random.
 */
export const mintMatchToken = (at: Date): MatchToken => `${PREFIX}${mintTimedText(at, 32)}` as MatchToken;

const TOKEN = /^opl_[A-Za-z0-9]{32}$/;
const TOKEN_WITHIN = /opl_[A-Za-z0-9]{32}(?![A-Za-z0-9])/;

/** The text as a match token, or null if it is malformed. */
export const readMatchToken = (text: unknown): MatchToken | null =>
	typeof text === 'string' && TOKEN.test(text) ? (text as MatchToken) : null;

/** The match token in a text: bare, at the end of a copied URL, or in a referrer's parameters (contract/resolution 16). */
export const matchTokenIn = (text: string): MatchToken | null => readMatchToken(TOKEN_WITHIN.exec(text)?.[0]);

/**
 * The id of the click whose page carries the token, a UUID of version 7: the token's time, and 74 bits of its SHA-256.
 * The click is found by its id, without an index of tokens, and the id does not reveal the token.
 */
export const clickIdOfToken = (token: MatchToken): string => {
	const time = timeOfText(token.slice(PREFIX.length));
	const random = hash('sha256', token, 'hex');
	const variant = VARIANT.charAt(Number.parseInt(random.charAt(0), 16) & 3);
	return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(1, 4)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
};

/**
 * A UUID of version 7 (RFC 9562 5.7): the time in milliseconds and 74 random bits. Ids of one time are adjacent in an
 * index, which grows at its end with full pages; random ids fill pages to two thirds.
 */
export const timeOrderedId = (at: Date): string => {
	const time = hexOf(at.getTime());
	const random = randomUUID();
	return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15, 18)}-${random.slice(19)}`;
};

/** Visits of the same link within this time count as one visit (contract/match 6). */
export const SAME_VISIT_MS = 10 * 60 * 1000;

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
