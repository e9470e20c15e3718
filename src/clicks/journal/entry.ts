import {hash, randomUUID} from 'node:crypto';
import {copyText} from '../../db/copy-in.ts';
import type {Click} from '../record-click.ts';

/**
 * A click as the journal has it: a line that is a letter, a tab, and a row of COPY for `clicks` (`c` counts against the
 * quota, `b` is a crawler's), and, where an app's first open may claim it, a line with the row of `match_clicks`
 * (`n` opens a match, `r` goes on with that of the same visit where there is one).
 */
export type Entry = {
	row: string;
	counts: boolean;
	match: {row: string; isReturning: boolean} | null;
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

export const matchColumns = [
	'id',
	'organization_id',
	'link_id',
	'visitor',
	'platform',
	'os_major',
	'os_minor',
	'os_patch',
	'os_precision',
	'device_model',
	'language',
	'timezone',
	'click_id',
	'token_hash',
	'ip_key',
	'net_key',
	'created_at',
	'expires_at',
] as const;

const bytes = (value: Buffer): string => `\\\\x${value.toString('hex')}`;
const number = (value: number | null | undefined): string => (value == null ? '\\N' : String(value));

/** The lines of a click. */
export const encodeEntry = (click: Click, {id, at}: {id: string; at: Date}): string => {
	const time = at.toISOString();
	const {organizationId, linkId, match} = click;
	const line = `${click.botClass === null ? 'c' : 'b'}\t${id}\t${time}\t${organizationId}\t${linkId}\t${copyText(click.channel)}\t${copyText(click.platform)}\t${copyText(click.os)}\t${copyText(click.osVersion)}\t${copyText(click.browser)}\t${copyText(click.deviceModel)}\t${copyText(click.language)}\t${copyText(click.timezone)}\t${copyText(click.referrerHost)}\t${copyText(click.country)}\t${copyText(click.botClass)}\n`;
	if (match === null) {
		return line;
	}

	const {token, windowHours, network, signals, visitor} = match;
	const {osVersion} = signals;
	const told = `${copyText(signals.platform)}\t${number(osVersion?.major)}\t${number(osVersion?.minor)}\t${number(osVersion?.patch)}\t${copyText(osVersion?.precision ?? null)}\t${copyText(signals.deviceModel)}\t${copyText(signals.language)}\t${copyText(signals.timezone)}`;
	const expiresAt = new Date(at.getTime() + windowHours * 3_600_000).toISOString();
	return `${line}${visitor?.isReturning ? 'r' : 'n'}\t${randomUUID()}\t${organizationId}\t${linkId}\t${visitor === null ? '\\N' : bytes(visitor.hash)}\t${told}\t${id}\t\\\\x${hash('sha256', token, 'hex')}\t${bytes(network.ipKey)}\t${bytes(network.netKey)}\t${time}\t${expiresAt}\n`;
};

/** The clicks of a frame's payload. */
export const decodeEntries = (payload: string): Entry[] => {
	const entries: Entry[] = [];
	let last: Entry | null = null;
	for (const line of payload.split('\n')) {
		const row = line.slice(2);
		switch (line[0]) {
			case 'c':
			case 'b':
				last = {row, counts: line[0] === 'c', match: null};
				entries.push(last);
				break;
			case 'n':
			case 'r':
				if (last !== null) {
					last.match = {row, isReturning: line[0] === 'r'};
				}

				break;
			default:
		}
	}

	return entries;
};

// Ids and times have one length, so that nothing has to be taken apart to know whose click it is.
export const clickId = ({row}: Entry): string => row.slice(0, 36);
export const occurredAt = ({row}: Entry): string => row.slice(37, 61);
export const organizationOf = ({row}: Entry): string => row.slice(62, 98);
export const linkOf = ({row}: Entry): string => row.slice(99, 135);
