import {outcomeWord} from '../../visits/matches/outcome-words.ts';
import {durationText} from '../terminal/duration.ts';
import {cellText} from '../terminal/output.ts';
import {type Figures, type LiveEvent, linkName} from './figures.ts';
import type {Link} from './follow.ts';

/** The shown part of `GET /admin/status`. */
export type Status = {
	status: string;
	version: string;
	uptimeSeconds: number;
	checks: Record<string, string>;
	database: {mode: string; version: string};
};

export type View = {
	server: string;
	scope: string;
	figures: Figures;
	/** The server's health; null if it does not report it. */
	status: Status | null;
	/** State of the stream; null for a single snapshot. */
	link: Link | null;
	/** IANA name of the timezone for times. */
	timezone: string;
};

/** Cached by timezone and pattern: creating a formatter takes longer than drawing a line. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** `14:05:09`, or `14:05`; dashes for a time that is not known yet. */
export const timeText = (at: number | null, timezone: string, {seconds = true} = {}): string => {
	if (at === null) {
		return seconds ? '--:--:--' : '--:--';
	}

	const key = `${timezone} ${seconds}`;
	const format =
		formats.get(key) ??
		new Intl.DateTimeFormat('en-GB', {
			timeZone: timezone,
			hourCycle: 'h23',
			hour: '2-digit',
			minute: '2-digit',
			...(seconds ? {second: '2-digit'} : {}),
		});
	formats.set(key, format);
	return format.format(at);
};

/** `ok: database, migrations, redis`; failing parts come first, with their state: `redis unavailable; ok: database`. */
export const healthText = (status: Status | null): string => {
	if (status === null) {
		return 'The server does not report its status';
	}

	const checks = Object.entries(status.checks);
	const bad = checks.filter(([, state]) => state !== 'ok').map(([part, state]) => `${part} ${state}`);
	const good = checks.filter(([, state]) => state === 'ok').map(([part]) => part);
	return [bad.join(', '), good.length === 0 ? '' : `ok: ${good.join(', ')}`].filter((part) => part !== '').join('; ');
};

export const isHealthy = (status: Status | null): boolean =>
	status !== null && status.status === 'ok' && Object.values(status.checks).every((state) => state === 'ok');

/** `Oplink 1.0.0, up 3h, PostgreSQL 16.4`. */
export const versionText = ({version, uptimeSeconds, database}: Status): string =>
	`Oplink ${version}, up ${durationText(uptimeSeconds)}, PostgreSQL ${database.version}`;

export const linkText = (link: Link): string =>
	link.state === 'waiting' ? `away, again in ${link.seconds}s` : link.state;

const joined = (parts: Array<string | null>): string =>
	parts.filter((part) => part !== null && part !== '').join(' · ');

/** An event in three cells. */
export const latestLine = ({type, data}: LiveEvent): {kind: string; subject: string; details: string} => {
	const subject = cellText(linkName(data));
	switch (type) {
		case 'click':
			return {
				kind: data.botClass === null ? 'click' : 'crawler',
				subject,
				details: cellText(data.botClass ?? joined([data.platform, data.browser, data.country])),
			};
		case 'match':
			return {
				kind: data.matched ? 'match' : 'miss',
				subject,
				details: cellText(joined([outcomeWord(data), data.confidence])),
			};
		default:
			return {kind: 'event', subject, details: cellText(data.eventName)};
	}
};

/** The lines of each part on a screen of this height, and the parts' widths. */
export const layoutOf = (columns: number, rows: number) => {
	/** Lines around the three flexible parts. */
	const fixed = 11;
	const lines = rows - fixed;
	const chart = Math.max(2, Math.min(9, Math.floor(lines / 3)));
	const tops = Math.max(2, Math.min(10, Math.round((lines - chart) / 2)));
	const width = columns - 2;
	const side = Math.max(18, Math.floor(width / 4) - 2);
	return {
		isTooSmall: columns < 60 || rows < 18,
		width,
		chart,
		tops,
		latest: lines - chart - tops,
		half: Math.floor((width - 2) / 2),
		side,
		links: width - 2 * (side + 2),
	};
};
