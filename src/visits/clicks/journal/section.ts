import {crc32} from 'node:zlib';
import {matchParts, matchTexts} from '../../matches/open-match.ts';
import {isOfPeople} from '../../visit/click-context.ts';
import {cutRows, type Entry} from './entry.ts';

/** A summary of the rows, which spares the drain from parsing them. */
type Summary = {
	/** The contexts by the ids in the rows: rows of COPY for `click_contexts` without their ids. */
	contexts: Record<string, string>;
	/** The campaigns by the ids in the rows: rows of COPY for `click_campaigns` without their ids. */
	campaigns: Record<string, string>;
	/** Clicks per organization and month (such as 2026-03), and how many of them are people's. */
	counts: Array<{organizationId: string; month: string; clicks: number; people: number}>;
	/** Links with new matches. */
	links: string[];
};

/** Bytes of the rows of `clicks`, and of those of open matches by their part. */
type Lengths = {clicks: number; opened: number; queried?: number; returning: number};

/** The rows of COPY and their summary. */
export type Section = Summary & Record<keyof Lengths, Buffer>;

const NEWLINE = 10;

/** The payload of a frame: a line of JSON with the summary and the lengths, then the rows. */
export const encodeSection = (entries: readonly Entry[]): string => {
	const rows = {clicks: '', opened: '', queried: '', returning: ''};
	const counts = new Map<string, Summary['counts'][number]>();
	const links = new Set<string>();
	const contexts: Summary['contexts'] = {};
	const campaigns: Summary['campaigns'] = {};
	for (const entry of entries) {
		const {organizationId, month, context, campaign, match} = entry;
		rows.clicks += entry.click;
		contexts[entry.contextId] = context;
		if (campaign !== '') {
			campaigns[entry.campaignId] = campaign;
		}

		const key = organizationId + month;
		let count = counts.get(key);
		if (count === undefined) {
			count = {organizationId, month, clicks: 0, people: 0};
			counts.set(key, count);
		}

		count.clicks += 1;
		count.people += isOfPeople(context) ? 1 : 0;
		if (match !== '') {
			links.add(entry.linkId);
			rows[entry.part] += match;
		}
	}

	const {clicks, opened, queried, returning} = rows;
	const summary: Summary & Lengths = {
		contexts,
		campaigns,
		clicks: Buffer.byteLength(clicks),
		opened: Buffer.byteLength(opened),
		...(queried === '' ? {} : {queried: Buffer.byteLength(queried)}),
		returning: Buffer.byteLength(returning),
		counts: [...counts.values()],
		links: [...links],
	};
	return `${JSON.stringify(summary)}\n${clicks}${opened}${queried}${returning}`;
};

export const decodeSection = (payload: Buffer): Section => {
	let end = payload.indexOf(NEWLINE) + 1;
	const summary = JSON.parse(payload.toString('utf8', 0, end)) as Summary & Lengths;
	const take = (length = 0): Buffer => {
		end += length;
		return payload.subarray(end - length, end);
	};
	return {
		...summary,
		clicks: take(summary.clicks),
		opened: take(summary.opened),
		queried: take(summary.queried),
		returning: take(summary.returning),
	};
};

export const sectionOf = (entries: readonly Entry[]): Section => decodeSection(Buffer.from(encodeSection(entries)));

/** Splits a section into single clicks, to omit some of them. */
export const entriesOf = (section: Section): Entry[] => {
	const entries = new Map<string, Entry>();
	for (const {id, time, row: click, referrerHost: _, ...ids} of cutRows(section.clicks.toString())) {
		const context = section.contexts[ids.contextId] ?? '';
		const campaign = section.campaigns[ids.campaignId] ?? '';
		entries.set(id, {id, ...ids, month: time.slice(0, 7), click, context, campaign, match: '', part: 'opened'});
	}

	for (const part of matchParts) {
		for (const row of section[part].toString().split('\n')) {
			const entry = entries.get(matchTexts(row).click_id ?? '');
			if (entry !== undefined) {
				Object.assign(entry, {match: `${row}\n`, part});
			}
		}
	}

	return [...entries.values()];
};

/** The ids of the organizations of clicks. */
export const organizationsOf = (sections: readonly Section[]): Set<string> =>
	new Set(sections.flatMap(({counts}) => counts.map(({organizationId}) => organizationId)));
export const linksOf = (sections: readonly Section[]): Set<string> => new Set(sections.flatMap(({links}) => links));
export const sharedRowsOf = (sections: readonly Section[], kind: 'contexts' | 'campaigns'): Map<string, string> =>
	new Map(sections.flatMap((section) => Object.entries(section[kind])));

/** `#`, the payload's length in bytes and its CRC-32 as 8 hexadecimal digits each, and a line end. */
export const HEADER_BYTES = 19;

/** Longest payload of a frame. A header with a larger length is invalid. */
export const MAX_PAYLOAD_BYTES = 512 * 1024;

const hex = (number: number): string => number.toString(16).padStart(8, '0');

/** A frame is written at once, and is valid as a whole or not at all. */
export const encodeFrame = (payload: string): Buffer => {
	const length = Buffer.byteLength(payload);
	const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
	frame.write(payload, HEADER_BYTES);
	frame.write(`#${hex(length)} ${hex(crc32(frame.subarray(HEADER_BYTES)))}\n`, 0, 'latin1');
	return frame;
};

/** The complete frame at an offset; null if there is none. */
const frameAt = (bytes: Buffer, at: number): {payload: Buffer; end: number} | null => {
	const [, length = '', checksum = ''] =
		/^#([0-9a-f]{8}) ([0-9a-f]{8})\n$/.exec(bytes.toString('latin1', at, at + HEADER_BYTES)) ?? [];
	const from = at + HEADER_BYTES;
	const end = from + Number.parseInt(length, 16);
	const payload = bytes.subarray(from, end);
	return checksum === '' || end > bytes.length || crc32(payload) !== Number.parseInt(checksum, 16)
		? null
		: {payload, end};
};

/**
 * The payloads of the complete frames at the start of `bytes`.
 * @returns `end`: the offset behind the last complete frame. The bytes after it are not read yet, were torn by a crash
 * before the write was acknowledged, or are damaged.
 */
export const decodeFrames = (bytes: Buffer, from = 0): {payloads: Buffer[]; end: number} => {
	const payloads: Buffer[] = [];
	let end = from;
	for (let frame = frameAt(bytes, end); frame !== null; frame = frameAt(bytes, end)) {
		payloads.push(frame.payload);
		end = frame.end;
	}

	return {payloads, end};
};

/** The offset of the first complete frame after the start; null if there is none. */
export const findFrame = (bytes: Buffer): number | null => {
	for (let at = bytes.indexOf('#', 1); at !== -1; at = bytes.indexOf('#', at + 1)) {
		if (frameAt(bytes, at) !== null) {
			return at;
		}
	}

	return null;
};
