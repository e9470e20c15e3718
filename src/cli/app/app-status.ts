import type {AppStatus} from '../../operations/app-status/app-status.ts';
import type {PlatformStatus} from '../../operations/app-status/platform-status.ts';
import {missWord} from '../../visits/matches/outcome-words.ts';
import type {AppRequestShown} from '../../visits/reports/stream/app-stream-store.ts';
import {exitCodes, InterruptedError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {follow} from '../dashboard/follow.ts';
import {findingsText, summaryText} from '../doctor/report.ts';
import {timeText} from '../match-trace.ts';
import type {Json} from '../server/admin-client.ts';
import {organizationApi} from '../server/link-surface.ts';
import {print, supportsStyles} from '../terminal/io.ts';
import {cellText, keyValues} from '../terminal/output.ts';

export type AppStatusOptions = {watch?: boolean; since?: string};

type Status = Json<AppStatus>;

const platformNames: Readonly<Record<string, string>> = {ios: 'iOS', android: 'Android'};
const unknownNames: Readonly<Record<string, string>> = {
	data: '/data',
	firstOpens: 'first opens',
	unknownDevice: 'without a session',
	refusals: 'refused by limit',
};
const at = (time: string | null): string => (time === null ? 'never' : `${timeText(time).slice(0, 16)} UTC`);

/** `12, last 2026-11-28 09:12 UTC; 1 not found` */
const seenText = ({count, lastAt}: {count: number; lastAt: string | null}, others = 0, name = ''): string =>
	`${count === 0 ? 'none' : `${count}, last ${at(lastAt)}`}${others === 0 ? '' : `; ${others} ${name}`}`;

/** `4.2.0 (12), 4.1.0 (3)`; undefined without one, for which no line is printed. */
const listText = <Row extends {count: number}>(
	rows: readonly Row[],
	nameOf: (row: Row) => string,
): string | undefined => rows.map((row) => `${nameOf(row)} (${row.count})`).join(', ') || undefined;

const platformText = (
	{platform, lastSeenAt, sessions, data, firstOpens, events, refusals}: Json<PlatformStatus>,
	{association}: Status,
	width: number,
): string =>
	keyValues(
		[
			[platformNames[platform] ?? platform, `last seen ${at(lastSeenAt)}`],
			['  sessions', seenText(sessions)],
			['  app versions', listText(sessions.appVersions, ({version}) => version)],
			['  SDK versions', listText(sessions.sdkVersions, ({version}) => version)],
			['  /data', seenText(data, data.notFound, 'not found')],
			['  first opens', seenText(firstOpens)],
			[
				'  of them',
				firstOpens.count === 0
					? undefined
					: `${firstOpens.withToken} with a token, ${firstOpens.guesses} guessed, ${firstOpens.misses} missed`,
			],
			['  misses', listText(firstOpens.byReason, ({reason}) => missWord(reason))],
			['  events', seenText(events, events.unknownDevice, 'without a session')],
			['  refused by limit', listText(refusals, ({limit}) => limit)],
			['  association file', `last fetched ${at(association[platform].lastFetchedAt)}`],
		],
		width,
	);

/** The requests of apps by platform, and then the findings. */
const statusText = (status: Status, {width, isColoured}: {width: number; isColoured: boolean}): string => {
	const {platforms, unknown, since} = status;
	const findings = status.findings.map((finding) => ({...finding, area: 'Findings'}));
	const others = Object.entries(unknown).flatMap(([name, count]) => (count > 0 ? [{name, count}] : []));
	const othersText = listText(others, ({name}) => unknownNames[name] ?? name);
	return [
		`Requests of the apps since ${at(since)}`,
		...platforms.map((platform) => platformText(platform, status, width)),
		...(othersText === undefined ? [] : [keyValues([['Unknown platform', othersText]], width)]),
		findingsText(findings, {width, isColoured}),
		summaryText(findings),
	].join('\n\n');
};

const requestLine = ({deviceId, appVersion, sdkVersion, ...request}: Json<AppRequestShown>): string => {
	const {at: time, platform, type, text} = request;
	const about = [deviceId, appVersion, sdkVersion].filter(Boolean).map(cellText).join(', ');
	const columns = [timeText(time).slice(11), (platformNames[platform] ?? '-').padEnd(7), type.padEnd(7)];
	return [...columns, `${cellText(text)}${about && ` (${about})`}`].join('  ');
};

const TYPES: ReadonlySet<string> = new Set(['session', 'data', 'match', 'event', 'refusal']);

/** Prints each request of the organization's apps until Ctrl-C. */
const watch = async (context: Context, org: string): Promise<never> => {
	const {io, show} = context;
	await show.note(`Requests of the apps of ${org}, in UTC; Ctrl-C ends`);
	let isAway = false;
	for await (const {link, event} of follow(context, {orgId: org, of: 'apps'})) {
		if (event !== undefined && TYPES.has(event.type)) {
			await print(io, show.json ? event.data : requestLine(JSON.parse(event.data) as Json<AppRequestShown>));
		} else if (link.state === 'waiting' && !isAway) {
			await show.note(`The stream is interrupted (${link.reason}); reconnecting`);
		}

		isAway = link.state === 'waiting' || (isAway && link.state === 'connecting');
	}

	throw new InterruptedError();
};

/** `oplink app status`. @returns the exit code. */
export const appStatus = async (context: Context<AppStatusOptions>): Promise<number> => {
	const {io, options, show} = context;
	const {client, org, path} = await organizationApi(context);
	if (options.watch) {
		return watch(context, org);
	}

	const status = await client.get<Status>(`${path}/app-status`, {since: options.since});
	await show.answer(status, () =>
		statusText(status, {width: show.width, isColoured: supportsStyles(io.stdout, io.env)}),
	);
	return status.status === 'fail' ? exitCodes.failed : exitCodes.ok;
};
