import {counted} from '../../platform/plural.ts';
import {type AppFinding, warn} from './app-finding.ts';
import type {Counted} from './app-status-store.ts';

/** Findings about counted requests, for each platform that shows them. */
const counters: ReadonlyArray<{
	check: string;
	kind: Counted['kind'];
	message: (count: number, details: string[]) => string;
	next: string;
}> = [
	{
		check: 'app.wrong_key',
		kind: 'wrong_key',
		message: (count, details) =>
			`${counted(count, 'request')} with the ${details.includes('SERVER') ? 'SERVER key where an app needs the CLIENT key' : 'CLIENT key where a backend needs the SERVER key'}`,
		next: 'Put the CLIENT key (opl_sdk_…) into the app, and regenerate a SERVER key that was in one: oplink keys regenerate ORG SERVER',
	},
	{
		check: 'app.foreign_key',
		kind: 'foreign_key',
		message: (count, details) =>
			details.includes('link')
				? `${counted(count, 'request')} with a link of this organization and the CLIENT key of another one`
				: `${counted(count, 'request')} with the CLIENT key of this organization and a link of another one`,
		next: 'Use the CLIENT key of the organization that has the links: oplink keys show ORG',
	},
	{
		check: 'app.data_not_found',
		kind: 'data_not_found',
		message: (count) => `${counted(count, 'request')} of …/data for a link that does not exist`,
		next: 'Pass the address that opened the app unchanged to resolveUrl(); oplink app status --watch shows the codes',
	},
	{
		check: 'app.event_before_session',
		kind: 'unknown_device',
		message: (count) =>
			`${counted(count, 'request')} for a device without a session, such as an event, refused with 404`,
		next: 'Await session() before track() and identify(), with the same deviceId',
	},
	{
		check: 'app.rate_limited',
		kind: 'limit',
		message: (count, details) => `${counted(count, 'request')} refused by the limit ${details.join(' and ')}`,
		next: 'Send fewer requests, or raise the limit of the plan (limits in PLANS_FILE; docs/sdk.md, Retries)',
	},
];

/** A finding for each kind and platform that was counted. */
export const ofCounters = (counts: readonly Counted[], orgKey: string): AppFinding[] =>
	counters.flatMap(({check, kind, message, next}) =>
		(['ios', 'android', 'unknown'] as const).flatMap((platform) => {
			const rows = counts.filter((row) => row.kind === kind && row.platform === platform);
			const count = rows.reduce((total, row) => total + row.count, 0);
			const details = [...new Set(rows.map(({detail}) => detail))];
			const fault = {check, count, message: message(count, details), next: next.replace('ORG', orgKey)};
			return count === 0 ? [] : [warn({platform: platform === 'unknown' ? null : platform, ...fault})];
		}),
	);
