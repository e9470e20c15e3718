import {SDK_VERSION} from '../../client/version.ts';
import {counted} from '../../platform/plural.ts';
import {missReasons} from '../../visits/matches/outcome-words.ts';
import {type AppFinding, fail, finding, warn} from './app-finding.ts';
import {ofCounters} from './counted-findings.ts';
import type {Observed, PlatformStatus} from './platform-status.ts';

const tokens = {
	ios: {
		check: 'app.no_token',
		name: 'a clipboard token',
		next: 'Pass the text of the clipboard to the client at the first open (docs/sdk.md, The first open)',
	},
	android: {
		check: 'app.no_referrer',
		name: 'an install referrer',
		next: 'Pass the install referrer to the client at the first open (docs/sdk.md, The first open)',
	},
} as const;

const opensText = (count: number): string => counted(count, 'first open');
const dayOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

type Given = {platforms: PlatformStatus[]; observed: Observed; orgKey: string; since: Date};

/** A platform that sends and is not configured, or is configured and sends nothing. */
const ofPresence = ({platform, lastSeenAt}: PlatformStatus, {observed, orgKey, since}: Given): AppFinding[] => {
	if (!observed.configured.platforms.includes(platform)) {
		return [
			fail({
				platform,
				check: 'app.not_configured',
				message: 'the app sends requests, and the app configuration has no app of this platform, so no link opens it',
				next: `Add it: oplink app-config show ${orgKey}, then oplink app-config set ${orgKey} --file FILE`,
			}),
		];
	}

	return lastSeenAt !== null
		? []
		: [
				fail({
					platform,
					check: 'app.nothing_seen',
					message: `no request of the app since ${dayOf(since)}`,
					next: `Call session() at each start, with the CLIENT key that oplink keys show ${orgKey} prints (docs/sdk.md), and open the app`,
				}),
			];
};

/** First opens: whether there are any, with tokens, and why they miss. */
const ofFirstOpens = ({platform, sessions, firstOpens}: PlatformStatus): AppFinding[] => {
	const {count, withToken, misses, byReason, byAppVersion} = firstOpens;
	const {check, name, next} = tokens[platform];
	const [reason] = byReason;
	const bare = withToken === 0 ? [] : byAppVersion.filter((one) => one.version !== 'unknown' && one.withToken === 0);
	return [
		...(sessions.count > 0 && count === 0
			? [
					warn({
						platform,
						check: 'app.no_first_open',
						count: sessions.count,
						message: `${counted(sessions.count, 'session')}, and no first open: the app does not call /match`,
						next: 'Call start() or firstOpen() of the client once per installation, on a fresh installation (docs/sdk.md)',
					}),
				]
			: []),
		...(count > 0 && withToken === 0
			? [
					warn({
						platform,
						check,
						count,
						message: `${opensText(count)}, none with ${name}: the app does not pass it`,
						next,
					}),
				]
			: []),
		...bare.map((one) =>
			warn({
				platform,
				check: 'app.token_missing_in_version',
				count: one.count,
				message: `version ${one.version}: ${opensText(one.count)}, none with ${name}; other versions pass it`,
				next: `Compare version ${one.version} with one that passes it: ${next.charAt(0).toLowerCase()}${next.slice(1)}`,
			}),
		),
		...(reason !== undefined && misses >= 10 && reason.count > misses / 2
			? [
					warn({
						platform,
						check: 'app.miss_reason',
						count: reason.count,
						message: `${reason.count} of ${misses} misses for the same reason, ${missReasons[reason.reason].word}`,
						next: missReasons[reason.reason].next,
					}),
				]
			: []),
	];
};

/** `1.2` of `oplink-js/1.2.0`, as a number that compares; null: not a version of a client of ours. */
const release = (version: string): number | null => {
	const [, major, minor] = /^(?:oplink-[a-z]+\/)(\d+)\.(\d+)/.exec(version) ?? [];
	return major === undefined ? null : Number(major) * 10_000 + Number(minor);
};

/** The versions of SDKs in sessions. */
const ofSdk = ({platform, sessions}: PlatformStatus): AppFinding[] => {
	const {count, sdkVersions} = sessions;
	const current = release(`oplink-js/${SDK_VERSION}`) ?? 0;
	const old = sdkVersions.filter(({version}) => (release(version) ?? current) < current);
	const bare = count - sdkVersions.reduce((total, one) => total + one.count, 0);
	return [
		...old.map((one) =>
			warn({
				platform,
				check: 'app.old_sdk',
				count: one.count,
				message: `${counted(one.count, 'session')} of ${one.version}, which is older than this server's client, ${SDK_VERSION}`,
				next: 'Update the client in the app to the version of the server (docs/sdk.md)',
			}),
		),
		...(bare > 0
			? [
					warn({
						platform,
						check: 'app.no_sdk_version',
						count: bare,
						message: `${counted(bare, 'session')} without sdkVersion, so an old client is not seen`,
						next: 'Use a client of this server, which sends it, or send sdkVersion with POST /sdk/session',
					}),
				]
			: []),
	];
};

/** The association files: who fetched them since the last change of the configuration. */
const ofAssociation = ({observed: {configured}, orgKey}: Given): AppFinding[] => {
	const {platforms, changedAt, fetched} = configured;
	const stale = platforms.filter((platform) => (fetched[platform] ?? new Date(0)) < (changedAt ?? new Date(0)));
	const isOne = platforms.length > stale.length;
	return stale.map((platform) =>
		warn({
			platform,
			check: isOne ? 'app.association_one_platform' : 'app.association_unfetched',
			message: `${isOne ? `only the association file of ${platform === 'ios' ? 'Android' : 'iOS'} was fetched` : 'nobody has fetched the association file'} since the last change of the app configuration`,
			next: `Install the app again, and check that phones reach the file: oplink doctor --public --org ${orgKey}`,
		}),
	);
};

/** Guesses that are off, unless every first open has a token. */
const ofGuesses = ({observed: {configured, opens}, orgKey}: Given): AppFinding[] => {
	const bare = opens.filter(({hasToken}) => !hasToken);
	const count = opens.filter(({outcome}) => outcome === 'guesses_off').reduce((total, row) => total + row.count, 0);
	if (configured.allowsGuesses || (opens.length > 0 && bare.length === 0)) {
		return [];
	}

	return [
		warn({
			platform: null,
			check: 'app.guesses_off',
			count,
			message: `guesses are off (probabilisticMatching is false)${count === 0 ? '' : `, and ${opensText(count)} without a token got no link`}`,
			next: `Have the app send a token at the first open, or allow guesses: oplink app-config set ${orgKey} --file FILE`,
		}),
	];
};

/** All findings, `app.ok` for each platform without one; the worst come first. */
export const findingsOfApp = (given: Given): AppFinding[] => {
	const {platforms, orgKey} = given;
	if (given.observed.configured.platforms.length === 0 && platforms.length === 0) {
		return [
			fail({
				platform: null,
				check: 'app.not_configured',
				message: 'the app configuration has neither a complete iOS app nor an Android app',
				next: `Set it: oplink app-config set ${orgKey} --file FILE`,
			}),
			...ofCounters(given.observed.counts, orgKey),
		];
	}

	const found = [
		...platforms.flatMap((platform) => [...ofPresence(platform, given), ...ofFirstOpens(platform), ...ofSdk(platform)]),
		...ofCounters(given.observed.counts, orgKey),
		...ofGuesses(given),
		...ofAssociation(given),
	];
	const fine = platforms.filter(
		({platform}) => !found.some((one) => one.platform === platform || one.platform === null),
	);
	return [
		...found.filter(({status}) => status === 'fail'),
		...found.filter(({status}) => status === 'warn'),
		...fine.map(({platform, lastSeenAt}) => ({
			...finding('ok', {
				platform,
				check: 'app.ok',
				message: `nothing is missing; last seen ${lastSeenAt === null ? 'never' : dayOf(lastSeenAt)}`,
				next: '',
			}),
			next: null,
		})),
	];
};
