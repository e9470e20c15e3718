import {SDK_VERSION} from '../../client/version.ts';
import {counted} from '../../platform/text.ts';
import {missReasons} from '../../visits/matches/outcome-words.ts';
import type {Finding} from '../finding.ts';
import type {Platform, RequestCount} from './app-status-store.ts';
import {firstOpensOf, type Observed, type PlatformStatus, sum} from './platform-status.ts';

/** A finding about an app. `platform`: null for all. `count`: how many requests show it. */
export type AppFinding = Finding & {platform: 'ios' | 'android' | null; count: number};

type Fault = {check: string; count?: number; message: string; next: string};
type AppState = {platforms: PlatformStatus[]; observed: Observed; orgKey: string; since: Date};

const FAILURES: ReadonlySet<string> = new Set(['app.not_configured', 'app.nothing_seen']);
const names = {ios: 'iOS', android: 'Android', unknown: 'App'} as const;
const all: readonly Platform[] = ['ios', 'android', 'unknown'];

const findingOf = (platform: Platform, {check, count = 0, message, next}: Fault): AppFinding => ({
	area: names[platform],
	check,
	status: FAILURES.has(check) ? 'fail' : 'warn',
	message: `${names[platform]}: ${message}`,
	next,
	platform: platform === 'unknown' ? null : platform,
	count,
});

const tokens = {
	ios: {check: 'app.no_token', name: 'a clipboard token', source: 'the text of the clipboard'},
	android: {check: 'app.no_referrer', name: 'an install referrer', source: 'the install referrer'},
} as const;

const opensText = (count: number): string => counted(count, 'first open');
const timeText = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** A platform that sends and is not configured, or is configured and sends nothing. */
function* presenceFaults(
	{platform, lastSeenAt}: PlatformStatus,
	{observed, orgKey, since}: AppState,
): Generator<Fault> {
	if (!observed.configured.platforms.includes(platform)) {
		yield {
			check: 'app.not_configured',
			message: 'the app sends requests, and the app configuration has no app of this platform, so no link opens it',
			next: `Add it: oplink app-config show ${orgKey}, then oplink app-config set ${orgKey} --file FILE`,
		};
	} else if (lastSeenAt === null) {
		yield {
			check: 'app.nothing_seen',
			message: `no request of the app since ${timeText(since)}`,
			next: `Call session() at each start, with the CLIENT key that oplink keys show ${orgKey} prints (docs/sdk.md), and open the app`,
		};
	}
}

/** First opens: whether there are any, with tokens, and why they miss. */
function* firstOpenFaults({platform, sessions, firstOpens}: PlatformStatus): Generator<Fault> {
	const {count, withToken, misses, byReason, byAppVersion} = firstOpens;
	const {check, name, source} = tokens[platform];
	const place = `${source} to the client at the first open (docs/sdk.md, The first open)`;
	if (sessions.count > 0 && count === 0) {
		yield {
			check: 'app.no_first_open',
			count: sessions.count,
			message: `${counted(sessions.count, 'session')}, and no first open: the app does not call /match`,
			next: 'Call start() or firstOpen() of the client once per installation, on a fresh installation (docs/sdk.md)',
		};
	}

	if (count > 0 && withToken === 0) {
		yield {
			check,
			count,
			message: `${opensText(count)}, none with ${name}: the app does not pass it`,
			next: `Pass ${place}`,
		};
	}

	for (const one of withToken === 0 ? [] : byAppVersion) {
		if (one.version !== 'unknown' && one.withToken === 0) {
			yield {
				check: 'app.token_missing_in_version',
				count: one.count,
				message: `version ${one.version}: ${opensText(one.count)}, none with ${name}; other versions pass it`,
				next: `Compare version ${one.version} with one that passes it: pass ${place}`,
			};
		}
	}

	const [most] = byReason;
	if (most !== undefined && misses >= 10 && most.count > misses / 2) {
		const {word, next} = missReasons[most.reason];
		const message = `${most.count} of ${misses} misses for the same reason, ${word}`;
		yield {check: 'app.miss_reason', count: most.count, message, next};
	}
}

/** `1.2` of `oplink-js/1.2.0`, as a number to compare; infinite for a client that is not ours. */
const release = (version: string): number => {
	const [, major, minor] = /^oplink-[a-z]+\/(\d+)\.(\d+)/.exec(version) ?? [];
	return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 10_000 + Number(minor);
};

/** The versions of SDKs in sessions. */
function* sdkFaults({sessions: {count, sdkVersions}}: PlatformStatus): Generator<Fault> {
	for (const one of sdkVersions) {
		if (release(one.version) < release(`oplink-js/${SDK_VERSION}`)) {
			yield {
				check: 'app.old_sdk',
				count: one.count,
				message: `${counted(one.count, 'session')} of ${one.version}, which is older than this server's client, ${SDK_VERSION}`,
				next: 'Update the client in the app to the version of the server (docs/sdk.md)',
			};
		}
	}

	const bare = count - sum(sdkVersions);
	if (bare > 0) {
		yield {
			check: 'app.no_sdk_version',
			count: bare,
			message: `${counted(bare, 'session')} without sdkVersion, so an old client is not seen`,
			next: 'Use a client of this server, which sends it, or send sdkVersion with POST /sdk/session',
		};
	}
}

/** Faults that single requests show. */
const requestFaults: ReadonlyArray<{
	check: string;
	kind: RequestCount['kind'];
	message: (requests: string, details: string[]) => string;
	next: string;
}> = [
	{
		check: 'app.wrong_key',
		kind: 'wrong_key',
		message: (requests, details) =>
			`${requests} with the ${details.includes('SERVER') ? 'SERVER key where an app needs the CLIENT key' : 'CLIENT key where a backend needs the SERVER key'}`,
		next: 'Put the CLIENT key (opl_sdk_…) into the app, and regenerate a SERVER key that was in one: oplink keys regenerate ORG SERVER',
	},
	{
		check: 'app.foreign_key',
		kind: 'foreign_key',
		message: (requests, details) =>
			details.includes('link')
				? `${requests} with a link of this organization and the CLIENT key of another one`
				: `${requests} with the CLIENT key of this organization and a link of another one`,
		next: 'Use the CLIENT key of the organization that has the links: oplink keys show ORG',
	},
	{
		check: 'app.data_not_found',
		kind: 'data_not_found',
		message: (requests) => `${requests} of …/data for a link that does not exist`,
		next: 'Pass the address that opened the app unchanged to resolveUrl(); oplink app status --watch shows the codes',
	},
	{
		check: 'app.event_before_session',
		kind: 'unknown_device',
		message: (requests) => `${requests} of a device without a session, refused with 404`,
		next: 'Await session() before track() and identify(), with the same deviceId',
	},
	{
		check: 'app.rate_limited',
		kind: 'limit',
		message: (requests, details) => `${requests} refused by the limit ${details.join(' and ')}`,
		next: 'Send fewer requests, or raise the limit of the plan (limits in PLANS_FILE; docs/sdk.md, Retries)',
	},
];

const requestFaultsOf = (platform: Platform, {observed: {counts}, orgKey}: AppState): Fault[] =>
	requestFaults.flatMap(({check, kind, message, next}) => {
		const rows = counts.filter((row) => row.kind === kind && row.platform === platform);
		const count = sum(rows);
		const text = message(counted(count, 'request'), [...new Set(rows.map(({detail}) => detail))]);
		return count === 0 ? [] : [{check, count, message: text, next: next.replace('ORG', orgKey)}];
	});

/** An association file that nobody fetched since the last change of the configuration. */
function* associationFaults(platform: 'ios' | 'android', {observed: {configured}, orgKey}: AppState): Generator<Fault> {
	const {platforms, changedAt} = configured;
	const isStale = (one: 'ios' | 'android') => (configured[one] ?? new Date(0)) < (changedAt ?? new Date(0));
	if (platforms.includes(platform) && isStale(platform)) {
		const isOne = !platforms.every(isStale);
		yield {
			check: isOne ? 'app.association_one_platform' : 'app.association_unfetched',
			message: `${isOne ? `only the association file of ${platform === 'ios' ? 'Android' : 'iOS'} was fetched` : 'nobody has fetched the association file'} since the last change of the app configuration`,
			next: `Install the app again, and check that phones reach the file: oplink doctor --public --org ${orgKey}`,
		};
	}
}

/** No app at all, and guesses that are off, unless every first open has a token. */
function* configurationFaults({platforms, observed: {configured, counts}, orgKey}: AppState): Generator<Fault> {
	if (platforms.length === 0) {
		yield {
			check: 'app.not_configured',
			message: 'the app configuration has neither a complete iOS app nor an Android app',
			next: `Set it: oplink app-config set ${orgKey} --file FILE`,
		};
	}

	const opens = firstOpensOf(counts);
	if (!configured.allowsGuesses && (opens.count === 0 || opens.withToken < opens.count)) {
		const count = opens.byReason.find(({reason}) => reason === 'guesses_off')?.count ?? 0;
		yield {
			check: 'app.guesses_off',
			count,
			message: `guesses are off (probabilisticMatching is false)${count === 0 ? '' : `, and ${opensText(count)} without a token got no link`}`,
			next: `Have the app send a token at the first open, or allow guesses: oplink app-config set ${orgKey} --file FILE`,
		};
	}
}

/** All findings, `app.ok` for each platform without one; the worst come first. */
export const findingsOfApp = (given: AppState): AppFinding[] => {
	const found = all.flatMap((platform) => {
		const status = given.platforms.find((one) => one.platform === platform);
		return [
			...(status === undefined
				? []
				: [...presenceFaults(status, given), ...firstOpenFaults(status), ...sdkFaults(status)]),
			...requestFaultsOf(platform, given),
			...(platform === 'unknown' ? configurationFaults(given) : associationFaults(platform, given)),
		].map((fault) => findingOf(platform, fault));
	});
	const fine = given.platforms.filter(
		({platform}) => !found.some((one) => one.platform === platform || one.platform === null),
	);
	return [
		...found.filter(({status}) => status === 'fail'),
		...found.filter(({status}) => status === 'warn'),
		...fine.map(({platform, lastSeenAt}): AppFinding => {
			const message = `nothing is missing; last seen ${lastSeenAt && timeText(lastSeenAt)}`;
			return {...findingOf(platform, {check: 'app.ok', message, next: ''}), status: 'ok', next: null};
		}),
	];
};
