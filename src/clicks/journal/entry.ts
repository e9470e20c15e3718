import {copyText} from '../../db/copy-in.ts';
import {timeOrderedId} from '../../time-ordered-id.ts';
import {clickIdOfToken} from '../open-match.ts';
import type {Click} from '../record-click.ts';

/** A click as it goes into the journal. */
export type Entry = {
	id: string;
	organizationId: string;
	linkId: string;
	/** Such as 2026-03 (UTC). */
	month: string;
	/** False for a crawler's, which counts against no quota. */
	counts: boolean;
	/** A row of COPY for `clicks`, with its line end. */
	click: string;
	/** A row of COPY for `match_clicks`, with its line end; '' where no app's first open may claim the click. */
	match: string;
	/** Whether the match goes on with that of the same visit, where there is one. */
	isReturning: boolean;
};

export const clickColumns = [
	'id',
	'occurred_at',
	'organization_id',
	'link_id',
	'channel',
	'platform',
	'os',
	'os_version',
	'browser',
	'device_model',
	'language',
	'timezone',
	'referrer_host',
	'country',
	'bot_class',
] as const;

/** What the headers of a visit say; a later visit that says less than the page's signals did leaves those. */
export const signalColumns = [
	'platform',
	'os_major',
	'os_minor',
	'os_patch',
	'os_precision',
	'device_model',
	'language',
	'timezone',
] as const;

export const matchColumns = [
	'id',
	'organization_id',
	'link_id',
	'visitor',
	...signalColumns,
	'click_id',
	'token_hash',
	'ip_key',
	'net_key',
	'created_at',
	'expires_at',
] as const;

const number = (value: number | null | undefined): string => (value == null ? '\\N' : String(value));

/** The rows of a click. A match that is opened has the click's id, which its token tells. */
export const encodeEntry = (click: Click, at: Date): Entry => {
	const time = at.toISOString();
	const {organizationId, linkId, match} = click;
	const id = match === null ? timeOrderedId(at) : clickIdOfToken(match.token);
	const entry = {
		id,
		organizationId,
		linkId,
		month: time.slice(0, 7),
		counts: click.botClass === null,
		click: `${id}\t${time}\t${organizationId}\t${linkId}\t${copyText(click.channel)}\t${copyText(click.platform)}\t${copyText(click.os)}\t${copyText(click.osVersion)}\t${copyText(click.browser)}\t${copyText(click.deviceModel)}\t${copyText(click.language)}\t${copyText(click.timezone)}\t${copyText(click.referrerHost)}\t${copyText(click.country)}\t${copyText(click.botClass)}\n`,
		match: '',
		isReturning: false,
	};
	if (match === null) {
		return entry;
	}

	const {windowHours, network, signals, visitor} = match;
	const {osVersion} = signals;
	const told = `${copyText(signals.platform)}\t${number(osVersion?.major)}\t${number(osVersion?.minor)}\t${number(osVersion?.patch)}\t${osVersion?.precision ?? '\\N'}\t${copyText(signals.deviceModel)}\t${copyText(signals.language)}\t${copyText(signals.timezone)}`;
	const expiresAt = new Date(at.getTime() + windowHours * 3_600_000).toISOString();
	entry.isReturning = visitor?.isReturning ?? false;
	entry.match = `${id}\t${organizationId}\t${linkId}\t${visitor === null ? '\\N' : `\\\\x${visitor.hash}`}\t${told}\t${id}\t\\N\t\\\\x${network.ipKey}\t\\\\x${network.netKey}\t${time}\t${expiresAt}\n`;
	return entry;
};

// Ids and times have one length, so that nothing has to be taken apart to know whose row it is.
const CLICK = {id: 0, time: 37, organization: 62, link: 99};
const UUID = 36;

const rowsOf = (text: string): string[] => text.split('\n').filter((row) => row !== '');

/** The entries that rows of both tables came from. @param opened, returning rows of `match_clicks`. */
export const decodeRows = (clicks: string, opened: string, returning: string): Entry[] => {
	const entries = rowsOf(clicks).map(
		(row): Entry => ({
			id: row.slice(CLICK.id, CLICK.id + UUID),
			organizationId: row.slice(CLICK.organization, CLICK.organization + UUID),
			linkId: row.slice(CLICK.link, CLICK.link + UUID),
			month: row.slice(CLICK.time, CLICK.time + 7),
			// The last column is the crawler's kind.
			counts: row.endsWith('\t\\N'),
			click: `${row}\n`,
			match: '',
			isReturning: false,
		}),
	);
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	for (const [rows, isReturning] of [
		[opened, false],
		[returning, true],
	] as const) {
		for (const row of rowsOf(rows)) {
			const entry = byId.get(row.split('\t')[matchColumns.indexOf('click_id')] ?? '');
			if (entry !== undefined) {
				Object.assign(entry, {match: `${row}\n`, isReturning});
			}
		}
	}

	return entries;
};
