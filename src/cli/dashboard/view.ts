import {durationText} from '../terminal/duration.ts';
import type {Figures} from './figures.ts';
import type {Link} from './follow.ts';

/** `GET /admin/status`, as much of it as is shown. */
export type Status = {
	status: string;
	version: string;
	uptimeSeconds: number;
	checks: Record<string, string>;
	database: {mode: string; version: string};
};

/** Everything that the dashboard shows. */
export type View = {
	/** Address of the server. */
	server: string;
	/** Whose clicks these are. */
	scope: string;
	figures: Figures;
	/** How the server is; null where it does not say. */
	status: Status | null;
	/** How it stands with the stream; null where figures of one moment are shown. */
	link: Link | null;
	/** IANA name of the timezone that times are shown in. */
	timezone: string;
};

/** By timezone and pattern: making one takes longer than drawing a line. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** `14:05:09`, or `14:05`. */
export const timeText = (at: number, timezone: string, {seconds = true} = {}): string => {
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

/** `ok: database, migrations, redis`; what is not well comes first, as it is: `redis unavailable; ok: database`. */
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

/** `Oplink 0.1.0, up 3h, PostgreSQL 16.4`. */
export const versionText = ({version, uptimeSeconds, database}: Status): string =>
	`Oplink ${version}, up ${durationText(uptimeSeconds)}, PostgreSQL ${database.version}`;

export const linkText = (link: Link): string =>
	link.state === 'waiting' ? `away, again in ${link.seconds}s` : link.state;

/** How many lines each part gets of a screen with so many, and how wide the parts are. */
export const layoutOf = (columns: number, rows: number) => {
	/** What stands around the three parts that take what there is. */
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
